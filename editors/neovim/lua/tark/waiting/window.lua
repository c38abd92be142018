---The window of what waits: it comes without the focus, at the right, and keeps clear of the line of the cursor.
local place = require('tark.waiting.place')

require('tark.highlights')

local M = {}

local NARROWEST, WIDEST = 44, 80
local OPTIONS = {
  wrap = true,
  linebreak = true,
  breakindent = true,
  breakindentopt = 'shift:2',
  smoothscroll = true,
  scrolloff = 0,
  foldenable = false,
  list = false,
  winfixbuf = true,
  winhighlight = 'Normal:TarkFloat,FloatBorder:TarkFloatBorder,FloatTitle:TarkFloatTitle',
}
---Below what the person opened beside it, and above all while they are in it.
local BEHIND, IN_FRONT = 45, 60
local NO_BORDER = { [''] = true, none = true, shadow = true }

local window ---@type integer?
local side = 'bottom' ---@type 'bottom'|'top'
local size ---@type { wide: integer, high: integer }? of its text
local placed ---@type tark.FloatPlace?
local is_written = false -- the person writes an answer in a window below it
local lifted = 0 -- rows of that

---@return integer? window nil: it is not open
function M.id()
  return window and vim.api.nvim_win_is_valid(window) and window or nil
end

---@return boolean
function M.focused()
  return window ~= nil and vim.api.nvim_get_current_win() == window
end

---@return boolean is it there, and on this tab?
function M.here()
  local id = M.id()
  return id ~= nil and vim.api.nvim_win_get_tabpage(id) == vim.api.nvim_get_current_tabpage()
end

---@return integer first row of the screen that floats can have, from 0
---@return integer last
local function rows()
  local tabs = vim.o.showtabline == 2 or (vim.o.showtabline == 1 and #vim.api.nvim_list_tabpages() > 1)
  local status = vim.o.laststatus > 0 and 1 or 0
  return tabs and 1 or 0, math.max(vim.o.lines - vim.o.cmdheight - status, 3)
end

---There is always a border: it holds the keys.
---@return string|string[]
local function border()
  local wanted = require('tark.float').border()
  return NO_BORDER[wanted] and 'solid' or wanted
end

---@param lines string[]
---@return integer
local function width(lines)
  local widest = NARROWEST
  for _, line in ipairs(lines) do
    if widest < WIDEST and #line > widest then -- no character is wider than it has bytes, but for tabs
      widest = math.max(widest, vim.fn.strdisplaywidth(line))
    end
  end
  return math.max(math.min(widest + 1, WIDEST, vim.o.columns - 4), 1)
end

---@param height integer
---@param wide integer
---@return vim.api.keyset.win_config
local function geometry(height, wide)
  local first, last = rows()
  return {
    relative = 'editor',
    anchor = side == 'bottom' and 'SE' or 'NE',
    row = side == 'bottom' and last - lifted or first,
    col = vim.o.columns,
    width = wide,
    height = height,
  }
end

---@return integer? row of the cursor among those a float can have; nil: it is in the float, or nowhere
local function cursor_row()
  if M.focused() or is_written then
    return nil
  end
  local first = rows()
  return vim.fn.win_screenpos(0)[1] + vim.fn.winline() - 1 - first
end

---Open it with a buffer, or show that in it. Raises an error where Neovim does not let us just now.
---@param buffer integer
---@return integer window
function M.open(buffer)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local id = M.id()
  if id and not M.here() then
    M.close()
    id = nil
  end
  if id then
    vim.wo[id].winfixbuf = false
    vim.api.nvim_win_set_buf(id, buffer)
  else
    local config = vim.tbl_extend('error', geometry(1, width(lines)), {
      style = 'minimal',
      border = border(),
      zindex = BEHIND,
      noautocmd = true,
    })
    window, side = vim.api.nvim_open_win(buffer, false, config), 'bottom'
    id = window --[[@as integer]]
  end
  for option, value in pairs(OPTIONS) do
    vim.api.nvim_set_option_value(option, value, { win = id, scope = 'local' })
  end
  return id
end

---How large its text is: to be said anew when that, or the screen, changes.
---@param longest integer rows of text at most
function M.measure(longest)
  local id = M.id()
  if id then
    local wide = width(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(id), 0, -1, false))
    vim.api.nvim_win_set_config(id, geometry(1, wide)) -- how high the text is depends on it
    size = { wide = wide, high = math.min(vim.api.nvim_win_text_height(id, {}).all, longest) }
    placed = nil
  end
end

---Place it anew where the cursor has come under it. Cheap: this runs with each key.
function M.keep_clear()
  local id = M.id()
  if not id or not size then
    return
  end
  local first, last = rows()
  local room = last - first - lifted
  -- Half of the screen stays the person's until they come.
  local wanted = M.focused() and size.high or math.min(size.high, math.floor(room / 2))
  local at = place.at(room, wanted, cursor_row(), side)
  if not placed or at.side ~= placed.side or at.height ~= placed.height then
    placed, side = at, at.side
    vim.api.nvim_win_set_config(id, geometry(at.height, size.wide))
  end
end

---What stands in its border.
---@param title { [1]: string, [2]: string }[]
---@param footer { [1]: string, [2]: string }[]
function M.dress(title, footer)
  local id = M.id()
  if id then
    local zindex = M.focused() and IN_FRONT or BEHIND
    vim.api.nvim_win_set_config(id, { title = title, footer = footer, footer_pos = 'right', zindex = zindex })
  end
end

---Room for a window below it, or none any more.
---@param height integer of its text; 0: none
---@return vim.api.keyset.win_config of that window
function M.make_room(height)
  is_written = height > 0
  lifted, placed = is_written and side == 'bottom' and height + 2 or 0, nil
  M.keep_clear()
  local id = M.id()
  return {
    relative = 'win',
    win = id,
    anchor = 'NW',
    row = id and vim.api.nvim_win_get_height(id) + 1 or 0,
    col = -1,
    width = id and vim.api.nvim_win_get_width(id) or NARROWEST,
    height = math.max(height, 1),
    style = 'minimal',
    border = border(),
    zindex = IN_FRONT + 1,
  }
end

---@param tail integer lines at the end of the text that do not count
---@return integer lines on the screen that the rest of the text takes
function M.below(tail)
  local id = M.id()
  if not id then
    return 0
  end
  local last = vim.fn.line('w$', id)
  local all = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(id)) - tail
  return last >= all and 0 or vim.api.nvim_win_text_height(id, { start_row = last, end_row = all - 1 }).all
end

function M.close()
  local id = M.id()
  window, is_written, lifted = nil, false, 0
  if id then
    vim.api.nvim_win_close(id, true)
  end
end

return M
