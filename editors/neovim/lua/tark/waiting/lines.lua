---Lines with highlights, as what waits is drawn.

local MARKS = vim.api.nvim_create_namespace('tark_waiting')

---@class tark.Mark
---@field row integer from 0
---@field from integer a byte
---@field to integer
---@field group string

---@class tark.Lines
---@field lines string[]
---@field marks tark.Mark[]
---@field tail integer the last ones, which are seen elsewhere, too, and need not be read
local Lines = {}
Lines.__index = Lines

---@return tark.Lines
function Lines.new()
  return setmetatable({ lines = {}, marks = {}, tail = 0 }, Lines)
end

---A line made of pieces: plain text, or a pair of text and highlight group. The text has no line breaks.
---@param ... string|{ [1]: string, [2]: string }
function Lines:add(...)
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

---Lines of untrusted text, each behind a sign of ours, so that none can look like a line of ours.
---@param text string may have line breaks
---@param sign string
---@param group? string
function Lines:quote(text, sign, group)
  local visible = require('tark.visible')
  for line in (text:gsub('\n$', '') .. '\n'):gmatch('(.-)\n') do
    local shown = visible.code(line)
    self:add({ sign, 'TarkQuoteSign' }, group and { shown, group } or shown)
  end
end

---Into a buffer that only we write.
---@param buffer integer
function Lines:put(buffer)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, self.lines)
  vim.bo[buffer].modifiable = false
  vim.api.nvim_buf_clear_namespace(buffer, MARKS, 0, -1)
  for _, mark in ipairs(self.marks) do
    vim.api.nvim_buf_set_extmark(buffer, MARKS, mark.row, mark.from, { end_col = mark.to, hl_group = mark.group })
  end
end

return Lines
