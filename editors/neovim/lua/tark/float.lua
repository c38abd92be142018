---Opens windows in the middle of the screen, and defines the border of all floats of the plugin.
local config = require('tark.config')
local visible = require('tark.visible')

local M = {}

---@return string|string[] as in nvim_open_win()
function M.border()
  local wanted = config.get().border
  if wanted then
    return wanted
  end
  local default = vim.fn.exists('+winborder') == 1 and vim.o.winborder or ''
  return default == '' and 'rounded' or vim.split(default, ',')[2] and vim.split(default, ',') or default
end

---Shows a buffer in a float that is as large as its text, and enters it.
---@param bufnr integer
---@param title string
---@param size? { width?: integer, height?: integer, minimal?: boolean } limited by the screen
---@return integer window
function M.open(bufnr, title, size)
  size = size or {}
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local width = size.width or 0
  if not size.width then
    for _, line in ipairs(lines) do
      width = math.max(width, vim.fn.strdisplaywidth(line) + 1)
    end
  end
  width = math.max(1, math.min(width, vim.o.columns - 4))
  local height = math.max(1, math.min(size.height or #lines, vim.o.lines - 6))
  return vim.api.nvim_open_win(bufnr, true, {
    relative = 'editor',
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.floor((vim.o.columns - width) / 2),
    border = M.border(),
    title = (' %s '):format(visible.line(title)),
    style = size.minimal and 'minimal' or nil,
  })
end

---Shows lines in the middle of the screen until the cursor moves. Does not enter the window. The next call replaces it.
---@param lines string[]
---@param title string
function M.show(lines, title)
  local _, window = vim.lsp.util.open_floating_preview(lines, 'text', {
    border = M.border(),
    title = (' %s '):format(title),
    focus = false, -- a second window replaces the first one
    wrap = true,
  })
  -- Neovim fits it into the current window, and the prompt of the chat has room for one line.
  local height = math.min(math.max(1, vim.api.nvim_win_text_height(window, {}).all), vim.o.lines - 6)
  vim.api.nvim_win_set_config(window, {
    relative = 'editor',
    anchor = 'NW',
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - vim.api.nvim_win_get_width(window)) / 2)),
  })
end

return M
