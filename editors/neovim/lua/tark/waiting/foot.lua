---The place of a folded request: one line at the bottom of a window for files, where it does not cover a hunk, the
---prompt of the chat, or the line of the cursor.
local drawing = require('tark.review.drawing')
local placement = require('tark.waiting.placement')
local workspace = require('tark.workspace')

local M = {}

---@return integer window
local function find_window()
  local window = workspace.file_window()
  for _, other in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local is_free = vim.api.nvim_win_get_config(other).relative == '' and vim.w[other].tark_chat ~= 'prompt'
    window = window or is_free and other or nil
  end
  return window or vim.api.nvim_get_current_win()
end

---@param window integer
---@param line integer from 1
---@param column integer
---@param first_row integer of the text, on the screen
---@return integer row of the text, from 1; less if it is above the window
local function row_of(window, line, column, first_row)
  return vim.fn.screenpos(window, line, column).row - first_row + 1
end

---The rows between the line above a hunk and the line below it: its own lines and its virtual lines.
---@param window integer
---@param info vim.fn.getwininfo.ret.item
---@param first_row integer
---@return [integer, integer][]
local function rows_of_hunks(window, info, first_row)
  local rows = {}
  local hunks = drawing.of_buffer(info.bufnr)
  for _, tracked in ipairs(hunks and hunks:ordered() or {}) do
    local above, count = tracked:place()
    local below = above + count + 1
    local from = above >= info.topline and row_of(window, above, vim.v.maxcol, first_row) + 1 or 1
    local to = below <= info.botline and row_of(window, below, 1, first_row) - 1 or info.height
    if above <= info.botline and below > info.topline then
      table.insert(rows, { from, to })
    end
  end
  return rows
end

---@return vim.api.keyset.win_config
function M.geometry()
  local window = find_window()
  local info = vim.fn.getwininfo(window)[1]
  local first_row = info.winrow + info.winbar
  local taken = rows_of_hunks(window, info, first_row)
  if window == vim.api.nvim_get_current_win() then
    local line, column = unpack(vim.api.nvim_win_get_cursor(window))
    local row = row_of(window, line, column + 1, first_row)
    table.insert(taken, { row, row })
  end
  return {
    relative = 'editor',
    anchor = 'NW',
    row = first_row - 1 + placement.free_row(info.height, taken) - 1,
    col = info.wincol - 1,
    width = math.max(info.width, 1),
    height = 1,
  }
end

return M
