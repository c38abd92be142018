---Lines of a hunk as virtual text, which has no tabs and shows no control characters. Pure, except for display widths.
local hunks = require('tark.review.hunks')
local visible = require('tark.visible')

local M = {}

---How many bytes of a line and lines of a hunk are drawn at most. The diff shows everything.
local LONGEST, MOST_LINES = 500, 300

---Replaces tabs with spaces, and invisible characters with their code points.
---@param text string
---@param tabstop integer
---@param column? integer where it starts
---@return string
---@return integer column where it ends
function M.expand(text, tabstop, column)
  column = column or 0
  text = visible.code(text)
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
---@field sign string before each line, so that it is recognizable without colours, too
---@field sign_group string
---@field room integer visible columns: longer lines are broken, because virtual lines cannot be scrolled sideways
---@field line string highlight group
---@field word string highlight group of words that differ
---@field tabstop integer
---@field width integer columns that the highlight fills

---One line as chunks of virtual text.
---@param line string
---@param changed? tark.ByteRange[]
---@param style tark.LineStyle
---@return [string, string][]
function M.chunks(line, changed, style)
  local is_cut
  line, is_cut = visible.cut(line, LONGEST)
  local chunks, column, at = {}, 0, 0
  local function add(to, group)
    if to > at then
      local text
      text, column = M.expand(line:sub(at + 1, to), style.tabstop, column)
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

---Breaks a line into screen lines.
---@param chunks [string, string][]
---@param style tark.LineStyle
---@return [string, string][][]
local function break_line(chunks, style)
  local room = math.max(style.room - #style.sign, 1)
  local lines, left = { { { style.sign, style.sign_group } } }, room
  for _, chunk in ipairs(chunks) do
    local text, group = chunk[1], chunk[2]
    while vim.api.nvim_strwidth(text) > left and text:find('%S') do
      local piece = vim.fn.printf(('%%.%dS'):format(left), text)
      if piece == '' and left == room then
        piece = vim.fn.strcharpart(text, 0, 1)
      end
      table.insert(lines[#lines], { piece, group })
      table.insert(lines, { { (' '):rep(#style.sign), style.sign_group } })
      text, left = text:sub(#piece + 1), room
    end
    table.insert(lines[#lines], { text, group })
    left = math.max(left - vim.api.nvim_strwidth(text), 0)
  end
  return lines
end

---@param hunk tark.Hunk
---@return boolean is only a part of it drawn?
function M.is_cut(hunk)
  local lines = hunks.lines(hunk.newText)
  if #lines > MOST_LINES then
    return true
  end
  for _, line in ipairs(lines) do
    if #line > LONGEST then
      return true
    end
  end
  return false
end

---@param lines string[]
---@param changed table<integer, tark.ByteRange[]>
---@param style tark.LineStyle
---@return [string, string][][] virt_lines
function M.lines(lines, changed, style)
  local drawn = {}
  for number = 1, math.min(#lines, MOST_LINES) do
    vim.list_extend(drawn, break_line(M.chunks(lines[number], changed[number], style), style))
  end
  if #lines > MOST_LINES then
    table.insert(drawn, { { ('… %d more lines'):format(#lines - MOST_LINES), 'TarkHint' } })
  end
  return drawn
end

return M
