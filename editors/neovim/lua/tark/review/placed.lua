---One hunk in one buffer: where it stands, kept by an extmark of its own, and what is drawn of it.
local hunks = require('tark.review.hunks')
local marks = require('tark.review.marks')

local NAMESPACE = vim.api.nvim_create_namespace('tark_review_places')

---@class tark.Placed
---@field bufnr integer
---@field hunk tark.Hunk
---@field mark? integer
---@field between boolean it stands between two lines: the mark is on the upper one
---@field look? tark.Look nil: nothing is drawn
---@field drawn tark.Drawn
---@field stale? boolean it was drawn for windows of another width
---@field size integer lines of it that stand there, as drawn
local Placed = {}
Placed.__index = Placed

---@param bufnr integer
---@param hunk tark.Hunk
---@return tark.Placed
function Placed.new(bufnr, hunk)
  local drawn = { ids = {}, on_top = 0 }
  return setmetatable({ bufnr = bufnr, hunk = hunk, drawn = drawn, size = 0, between = false }, Placed)
end

---@return integer? first from 0; nil: nobody knows
---@return integer? count of the lines that stand there
function Placed:place()
  local mark = self.mark and vim.api.nvim_buf_get_extmark_by_id(self.bufnr, NAMESPACE, self.mark, { details = true })
  if not mark or not mark[1] or mark[3].invalid then
    return nil
  end
  local first, last = mark[1], mark[3].end_row or mark[1]
  if self.between then
    return first + 1, 0
  end
  -- Where all of its lines were replaced, the beginning went behind the new ones.
  return math.min(first, last), math.abs(last - first)
end

---@param first integer
---@param count integer
---@return boolean moved it was not there already, by following the text
function Placed:put(first, count)
  local now_first, now_count = self:place()
  if now_first == first and now_count == count then
    return false
  end
  local lines = vim.api.nvim_buf_line_count(self.bufnr)
  self.between = count == 0 and first > 0
  local row = self.between and first - 1 or first
  self.mark = vim.api.nvim_buf_set_extmark(self.bufnr, NAMESPACE, math.min(row, lines), 0, {
    id = self.mark,
    end_row = count > 0 and math.min(first + count, lines) or nil,
    end_col = count > 0 and 0 or nil,
    right_gravity = count > 0 or self.between,
    end_right_gravity = count > 0 and false or nil,
    invalidate = self.between,
    strict = false,
  })
  return true
end

---Do the lines of the hunk stand there?
---@param first integer
---@param lines string[]
---@return boolean
function Placed:stands(first, lines)
  local there = vim.api.nvim_buf_get_lines(self.bufnr, first, first + #lines, false)
  for number, line in ipairs(lines) do
    local found = there[number]
    if found ~= line and (not found or found:gsub('\r$', '') ~= line) then
      return false
    end
  end
  return true
end

---How it looks at its place now.
---@return tark.Look?
function Placed:looks()
  local first, count = self:place()
  if not first then
    return nil
  elseif self.hunk.state ~= 'pending' then
    return self.hunk.state
  end
  local standing = hunks.standing(self.hunk)
  if self:stands(first, standing) and (#standing > 0 or count == 0) then
    return 'pending'
  end
  -- Just accepted, rejected or undone: the server is about to say so.
  local others = hunks.lines(self.hunk.applied and self.hunk.oldText or self.hunk.newText)
  return not (count == #others and self:stands(first, others)) and 'changed' or nil
end

---@param look? tark.Look
---@param force? boolean its text or place is another than what is drawn
function Placed:draw(look, force)
  if not force and look == self.look and not self.stale then
    return
  end
  self.stale = nil
  local first, count = self:place()
  if look == 'pending' then
    count = #hunks.standing(self.hunk)
  end
  marks.erase(self.bufnr, self.drawn)
  self.drawn, self.look, self.size = { ids = {}, on_top = 0 }, look, count or 0
  if look and first and count then
    self.drawn = marks.draw(self.bufnr, self.hunk, look, first, count)
  end
end

function Placed:erase()
  self:draw(nil)
  if self.mark then
    vim.api.nvim_buf_del_extmark(self.bufnr, NAMESPACE, self.mark)
    self.mark = nil
  end
end

return Placed
