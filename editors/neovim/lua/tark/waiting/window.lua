---The window of the float. It opens without the focus, either at the right, where it avoids the line of the cursor, or
---as one line at the bottom of a window for files.
local float = require('tark.float')
local foot = require('tark.waiting.foot')
local placement = require('tark.waiting.placement')

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
---Below other floats of the user, except while the user is in it.
local ZINDEX, FOCUSED_ZINDEX = 45, 60
local NO_BORDER = { [''] = true, none = true, shadow = true }

local window ---@type integer?
local side = 'bottom' ---@type 'bottom'|'top'
local size ---@type { width: integer, height: integer }? of its text
local current ---@type tark.FloatPlacement?
local line_place ---@type vim.api.keyset.win_config? of the one line, while it is folded
local is_written = false -- the user writes an answer in a window below it
local reserved_rows = 0 -- of that window

---@return integer? window nil: it is not open
function M.id()
  return window and vim.api.nvim_win_is_valid(window) and window or nil
end

---@return boolean
function M.focused()
  return window ~= nil and vim.api.nvim_get_current_win() == window
end

---@return boolean is it open in this tab page?
function M.is_here()
  local id = M.id()
  return id ~= nil and vim.api.nvim_win_get_tabpage(id) == vim.api.nvim_get_current_tabpage()
end

---@return integer first row of the screen that floats can have, from 0
---@return integer last
local function float_rows()
  local tabs = vim.o.showtabline == 2 or (vim.o.showtabline == 1 and #vim.api.nvim_list_tabpages() > 1)
  local status = vim.o.laststatus > 0 and 1 or 0
  return tabs and 1 or 0, math.max(vim.o.lines - vim.o.cmdheight - status, 3)
end

---The border of the float. There is always one, because it shows the keys.
---@return string|string[]
local function border()
  local wanted = float.border()
  return NO_BORDER[wanted] and 'solid' or wanted
end

---@param lines string[]
---@return integer
local function width_of(lines)
  local widest = NARROWEST
  for _, line in ipairs(lines) do
    if widest < WIDEST and #line > widest then -- no character has more columns than bytes, except tabs
      widest = math.max(widest, vim.fn.strdisplaywidth(line))
    end
  end
  return math.max(math.min(widest + 1, WIDEST, vim.o.columns - 4), 1)
end

---@param height integer
---@param width integer
---@return vim.api.keyset.win_config
local function geometry(height, width)
  local first, last = float_rows()
  return {
    relative = 'editor',
    anchor = side == 'bottom' and 'SE' or 'NE',
    row = side == 'bottom' and last - reserved_rows or first,
    col = vim.o.columns,
    width = width,
    height = height,
  }
end

---@return integer? row of the cursor within the rows for floats; nil: the user is in the float, or below it
local function cursor_row()
  if M.focused() or is_written then
    return nil
  end
  local first = float_rows()
  return vim.fn.win_screenpos(0)[1] + vim.fn.winline() - 1 - first
end

---The look of the window: with a border, or one line without a border.
---@param place vim.api.keyset.win_config
---@return vim.api.keyset.win_config
local function look(place)
  return vim.tbl_extend('error', place, { border = line_place and 'none' or border(), zindex = ZINDEX })
end

---Opens the window, or shows another buffer in it. Raises an error if Neovim allows no window at the moment.
---@param buffer integer
---@param folded boolean as one line
---@return integer window
function M.open(buffer, folded)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local id = M.id()
  if id and not M.is_here() then
    M.close()
    id = nil
  end
  line_place = folded and foot.geometry() or nil
  if id then
    vim.wo[id].winfixbuf = false
    vim.api.nvim_win_set_buf(id, buffer)
    if folded then
      vim.api.nvim_win_set_config(id, { title = '', footer = '' }) -- which need a border
    end
    vim.api.nvim_win_set_config(id, look(line_place or geometry(1, width_of(lines))))
  else
    local config = look(line_place or geometry(1, width_of(lines)))
    config.style, config.noautocmd = 'minimal', true
    window, side = vim.api.nvim_open_win(buffer, false, config), 'bottom'
    id = window --[[@as integer]]
  end
  for option, value in pairs(OPTIONS) do
    vim.api.nvim_set_option_value(option, value, { win = id, scope = 'local' })
  end
  vim.wo[id][0].wrap = not folded
  return id
end

---@return integer? width of the one line; nil: it is not folded
function M.line_width()
  return line_place and line_place.width
end

---Measures the text. Call this again when the text or the screen has changed.
---@param longest integer maximum number of rows
function M.measure(longest)
  local id = M.id()
  if id and not line_place then
    local width = width_of(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(id), 0, -1, false))
    vim.api.nvim_win_set_config(id, geometry(1, width)) -- the height of the text depends on it
    size = { width = width, height = math.min(vim.api.nvim_win_text_height(id, {}).all, longest) }
    current = nil
  end
end

---Moves the window if it covers the cursor. This runs at each key, so it must be cheap.
function M.reposition()
  local id = M.id()
  if id and line_place then
    local place = foot.geometry()
    if not vim.deep_equal(place, line_place) then
      line_place = place
      vim.api.nvim_win_set_config(id, place)
    end
    return
  end
  if not id or not size then
    return
  end
  local first, last = float_rows()
  local available = last - first - reserved_rows
  -- Until the user enters it, the window takes at most half of the screen.
  local wanted = M.focused() and size.height or math.min(size.height, math.floor(available / 2))
  local new = placement.choose(available, wanted, cursor_row(), side)
  if not current or new.side ~= current.side or new.height ~= current.height then
    current, side = new, new.side
    vim.api.nvim_win_set_config(id, geometry(new.height, size.width))
  end
end

---Sets the text in its border.
---@param title { [1]: string, [2]: string }[]
---@param footer { [1]: string, [2]: string }[]
function M.set_border_text(title, footer)
  local id = M.id()
  if id and not line_place then
    local zindex = M.focused() and FOCUSED_ZINDEX or ZINDEX
    vim.api.nvim_win_set_config(id, { title = title, footer = footer, footer_pos = 'right', zindex = zindex })
  end
end

---Reserves rows for a window below it, or releases them.
---@param height integer of that window's text; 0: release
---@return vim.api.keyset.win_config of that window
function M.reserve_below(height)
  is_written = height > 0
  reserved_rows, current = is_written and side == 'bottom' and height + 2 or 0, nil
  M.reposition()
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
    zindex = FOCUSED_ZINDEX + 1,
  }
end

---@param tail integer number of lines at the end of the text that do not count
---@return integer number of screen lines below the window's last line
function M.lines_below(tail)
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
  window, is_written, reserved_rows = nil, false, 0
  if id then
    vim.api.nvim_win_close(id, true)
  end
end

return M
