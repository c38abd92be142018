---Lines of a hunk as virtual text, which knows no tabs and shows no control characters. Pure but for widths.
local M = {}

---Columns of a line and lines of a hunk that are drawn; all of it is in the diff.
local LONGEST, MOST_LINES = 500, 300

---With its tabs as blanks and what cannot be seen as its code point.
---@param text string
---@param tabstop integer
---@param column? integer where it begins
---@return string
---@return integer column where it ends
function M.expanded(text, tabstop, column)
  column = column or 0
  text = require('tark.visible').code(text)
  if not text:find('\t', 1, true) then
    return text, column + vim.api.nvim_strwidth(text)
  end
  local parts = {}
  for part, tab in text:gmatch('([^\t]*)(\t?)') do
    column = column + vim.api.nvim_strwidth(part)
    local blanks = tab == '' and 0 or tabstop - column % tabstop
    table.insert(parts, part .. (' '):rep(blanks))
    column = column + blanks
  end
  return table.concat(parts), column
end

---@class tark.LineStyle
---@field line string highlight group
---@field word string highlight group of what differs
---@field tabstop integer
---@field width integer columns that are filled

---One line as chunks of virtual text.
---@param line string
---@param changed? tark.ByteRange[]
---@param style tark.LineStyle
---@return [string, string][]
function M.chunks(line, changed, style)
  local is_cut
  line, is_cut = require('tark.visible').cut(line, LONGEST)
  local chunks, column, at = {}, 0, 0
  local function add(to, group)
    if to > at then
      local text
      text, column = M.expanded(line:sub(at + 1, to), style.tabstop, column)
      table.insert(chunks, { text, group })
      at = to
    end
  end
  for _, range in ipairs(changed or {}) do
    add(math.min(range[1], #line), style.line)
    add(math.min(range[2], #line), style.word)
  end
  add(#line, style.line)
  local rest = (is_cut and '…' or '') .. (' '):rep(style.width - column)
  table.insert(chunks, { rest, style.line })
  return chunks
end

---@param lines string[]
---@param changed table<integer, tark.ByteRange[]>
---@param style tark.LineStyle
---@return [string, string][][] virt_lines
function M.lines(lines, changed, style)
  local drawn = {}
  for number = 1, math.min(#lines, MOST_LINES) do
    drawn[number] = M.chunks(lines[number], changed[number], style)
  end
  if #lines > MOST_LINES then
    table.insert(drawn, { { ('… %d more lines'):format(#lines - MOST_LINES), 'TarkHint' } })
  end
  return drawn
end

return M
