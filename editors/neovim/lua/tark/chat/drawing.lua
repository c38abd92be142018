---Draws turns into a buffer. Writes only lines that differ, and records which lines show which piece.
local render = require('tark.chat.render')

---@class tark.DrawnTurn
---@field turn tark.Turn
---@field pieces tark.Piece[]
---@field count integer number of lines

---@class tark.Drawing
---@field bufnr integer
---@field private header integer number of lines above the first turn
---@field private drawn tark.DrawnTurn[]
local Drawing = {}
Drawing.__index = Drawing

local namespace = vim.api.nvim_create_namespace('tark_chat')

---Replaces lines, but writes only lines that differ, so that marks, cursors and the view stay.
---@param first integer line, from 0
---@param last integer excluded; -1: the end
---@param lines string[]
function Drawing:replace(first, last, lines)
  last = last < 0 and vim.api.nvim_buf_line_count(self.bufnr) or last
  local old = vim.api.nvim_buf_get_lines(self.bufnr, first, last, true)
  local head, tail = 0, 0
  while head < #old and head < #lines and old[head + 1] == lines[head + 1] do
    head = head + 1
  end
  while tail < #old - head and tail < #lines - head and old[#old - tail] == lines[#lines - tail] do
    tail = tail + 1
  end
  local new = vim.list_slice(lines, head + 1, #lines - tail)
  local grows = old[head + 1]
  if #old - head - tail == 1 and #new > 0 and vim.startswith(new[1], grows) then
    new[1] = new[1]:sub(#grows + 1)
    vim.api.nvim_buf_set_text(self.bufnr, first + head, #grows, first + head, #grows, new)
  elseif #new > 0 or #old > head + tail then
    vim.api.nvim_buf_set_lines(self.bufnr, first + head, last - tail, true, new)
  end
end

---@param marks tark.ChatMark[]
---@param row integer the rows of the marks are relative to this row
function Drawing:add_marks(marks, row)
  for _, mark in ipairs(marks) do
    local whole = not mark.stop
    vim.api.nvim_buf_set_extmark(self.bufnr, namespace, row + mark.row, 0, {
      end_row = whole and row + mark.row + 1 or nil,
      end_col = whole and 0 or mark.stop,
      strict = false,
      hl_group = mark.group,
      priority = whole and 150 or 160, -- above treesitter's
    })
  end
end

---@param drawn_turn tark.DrawnTurn
---@param row integer its first line, from 0
---@param opened fun(key: string): boolean
---@param changed? table<tark.Block, true> blocks that have changed; nil: any block can have changed
function Drawing:draw_turn(drawn_turn, row, opened, changed)
  local old = drawn_turn.pieces
  drawn_turn.pieces, drawn_turn.count = render.turn(drawn_turn.turn, opened, old, changed), 0
  for index, piece in ipairs(drawn_turn.pieces) do
    local former = old[index] and old[index].count or 0
    if index == #drawn_turn.pieces then -- former pieces after the last one are removed
      for gone = index + 1, #old do
        former = former + old[gone].count
      end
    end
    local count = piece.stable + #piece.lines
    if #piece.lines > 0 or former ~= count then
      self:replace(row + piece.stable, row + former, piece.lines)
      vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, row + piece.stable, row + count)
      self:add_marks(piece.marks, row)
    end
    piece.count, piece.lines = count, {} -- they are in the buffer
    drawn_turn.count, row = drawn_turn.count + count, row + count
  end
end

---Draws all turns with one write, which is much faster than one for each turn.
---@param header string[]
---@param turns tark.Turn[]
---@param opened fun(key: string): boolean
function Drawing:draw_all(header, turns, opened)
  local lines = vim.list_slice(header)
  self.header, self.drawn = #header, {}
  for _, turn in ipairs(turns) do
    local drawn_turn = { turn = turn, pieces = render.turn(turn, opened), count = 0 }
    for _, piece in ipairs(drawn_turn.pieces) do
      vim.list_extend(lines, piece.lines)
      piece.count, piece.lines = #piece.lines, {}
      drawn_turn.count = drawn_turn.count + piece.count
    end
    table.insert(self.drawn, drawn_turn)
  end
  self:replace(0, -1, lines)
  vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, 0, -1)
  self:add_marks({ { row = 0, group = 'TarkUsage' } }, 0)
  for _, piece, row in self:pieces() do
    self:add_marks(piece.marks, row)
  end
end

---Keeps the drawn turns up to the first one that differs, and redraws what follows.
---@param turns tark.Turn[]
---@param opened fun(key: string): boolean
---@param stale table<tark.Turn, true|table<tark.Block, true>> true: the whole turn; else the blocks to redraw
---@return boolean done false: everything has changed, so the caller must call `draw_all`
function Drawing:draw_stale(turns, opened, stale)
  local rows = { self.header } -- the first row of each turn, and the row after the last turn
  for index, drawn_turn in ipairs(self.drawn) do
    rows[index + 1] = rows[index] + drawn_turn.count
  end
  if rows[#rows] ~= vim.api.nvim_buf_line_count(self.bufnr) then -- something else wrote into the buffer
    return false
  end
  local same = 0
  while same < #self.drawn and turns[same + 1] == self.drawn[same + 1].turn do
    same = same + 1
  end
  if same == 0 and #self.drawn > 0 then
    return false
  end
  if same < #self.drawn then
    self:replace(rows[same + 1], -1, {})
    self.drawn = vim.list_slice(self.drawn, 1, same)
  end
  for index = same, 1, -1 do
    local changed = stale[turns[index]]
    if changed then
      self:draw_turn(self.drawn[index], rows[index], opened, type(changed) == 'table' and changed or nil)
    end
  end
  for index = same + 1, #turns do
    self.drawn[index] = { turn = turns[index], pieces = {}, count = 0 }
    self:draw_turn(self.drawn[index], vim.api.nvim_buf_line_count(self.bufnr), opened)
  end
  return true
end

---Iterates over the pieces.
---@return fun(): integer?, tark.Piece?, integer? index of the turn, piece, its first line from 0
function Drawing:pieces()
  local turn, index, row = 1, 0, self.header
  return function()
    if index > 0 then
      row = row + self.drawn[turn].pieces[index].count
    end
    index = index + 1
    while self.drawn[turn] and not self.drawn[turn].pieces[index] do
      turn, index = turn + 1, 1
    end
    if self.drawn[turn] then
      return turn, self.drawn[turn].pieces[index], row
    end
  end
end

---@param line integer from 1
function Drawing:is_header(line)
  return line <= self.header
end

---@param bufnr integer
---@return tark.Drawing
return function(bufnr)
  return setmetatable({ bufnr = bufnr, header = 0, drawn = {} }, Drawing)
end
