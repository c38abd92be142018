---Lines with highlights: the text of the float.
local visible = require('tark.visible')

local MARKS = vim.api.nvim_create_namespace('tark_waiting')

---@class tark.LineMark
---@field row integer from 0
---@field from integer a byte
---@field to integer
---@field group string

---@class tark.StyledLines
---@field lines string[]
---@field marks tark.LineMark[]
---@field tail integer number of lines at the end that need not be read, because they are shown elsewhere, too
local StyledLines = {}
StyledLines.__index = StyledLines

---@return tark.StyledLines
function StyledLines.new()
  return setmetatable({ lines = {}, marks = {}, tail = 0 }, StyledLines)
end

---Adds a line of pieces: plain text, or a pair of text and highlight group. The text has no line breaks.
---@param ... string|{ [1]: string, [2]: string }
function StyledLines:add(...)
  local line = ''
  for _, piece in ipairs({ ... }) do
    local text = type(piece) == 'table' and piece[1] or piece --[[@as string]]
    if type(piece) == 'table' and text ~= '' then
      table.insert(self.marks, { row = #self.lines, from = #line, to = #line + #text, group = piece[2] })
    end
    line = line .. text
  end
  table.insert(self.lines, line)
end

---Adds lines of untrusted text, each after a sign, so that none can look like a line of the plugin.
---@param text string can have line breaks
---@param sign string
---@param group? string
function StyledLines:quote(text, sign, group)
  for line in (text:gsub('\n$', '') .. '\n'):gmatch('(.-)\n') do
    local shown = visible.code(line)
    self:add({ sign, 'TarkQuoteSign' }, group and { shown, group } or shown)
  end
end

---Writes the lines to a buffer that only the plugin writes.
---@param buffer integer
function StyledLines:write_to(buffer)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, self.lines)
  vim.bo[buffer].modifiable = false
  vim.api.nvim_buf_clear_namespace(buffer, MARKS, 0, -1)
  for _, mark in ipairs(self.marks) do
    vim.api.nvim_buf_set_extmark(buffer, MARKS, mark.row, mark.from, { end_col = mark.to, hl_group = mark.group })
  end
end

return StyledLines
