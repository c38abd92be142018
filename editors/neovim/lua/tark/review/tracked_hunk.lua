---One hunk in one buffer: its place, which an extmark tracks, and what is drawn for it.
local hunks = require('tark.review.hunks')
local marks = require('tark.review.marks')

local NAMESPACE = vim.api.nvim_create_namespace('tark_review_places')

---@class tark.TrackedHunk
---@field bufnr integer
---@field hunk tark.Hunk
---@field mark? integer
---@field between boolean it is between two lines: the mark is on the upper one
---@field appearance? tark.Appearance nil: nothing is drawn
---@field drawn tark.Drawn
---@field stale? boolean it is drawn for windows of another width
---@field size integer number of lines of the text that are drawn as its lines
local TrackedHunk = {}
TrackedHunk.__index = TrackedHunk

---@param bufnr integer
---@param hunk tark.Hunk
---@return tark.TrackedHunk
function TrackedHunk.new(bufnr, hunk)
  local drawn = { ids = {}, on_top = 0 }
  return setmetatable({ bufnr = bufnr, hunk = hunk, drawn = drawn, size = 0, between = false }, TrackedHunk)
end

---@return integer? first line from 0; nil: unknown
---@return integer? count of lines
function TrackedHunk:place()
  local mark = self.mark and vim.api.nvim_buf_get_extmark_by_id(self.bufnr, NAMESPACE, self.mark, { details = true })
  if not mark or not mark[1] or mark[3].invalid then
    return nil
  end
  local first, last = mark[1], mark[3].end_row or mark[1]
  if self.between then
    return first + 1, 0
  end
  -- If all its lines were replaced, the start of the mark moved behind the new lines.
  return math.min(first, last), math.abs(last - first)
end

---@param first integer
---@param count integer
---@return boolean moved false: the mark was there already
function TrackedHunk:move_to(first, count)
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

---@param first integer
---@param lines string[]
---@return boolean does the text have these lines there?
function TrackedHunk:text_matches(first, lines)
  local text = vim.api.nvim_buf_get_lines(self.bufnr, first, first + #lines, false)
  for number, line in ipairs(lines) do
    local current = text[number]
    if current ~= line and (not current or current:gsub('\r$', '') ~= line) then
      return false
    end
  end
  return true
end

---How to draw the hunk at its current place.
---@return tark.Appearance?
function TrackedHunk:current_appearance()
  local first, count = self:place()
  if not first then
    return nil
  elseif self.hunk.state ~= 'pending' then
    return self.hunk.state
  end
  local expected = hunks.current_lines(self.hunk)
  if self:text_matches(first, expected) and (#expected > 0 or count == 0) then
    return 'pending'
  end
  -- The hunk was just accepted, rejected or undone: the server is about to report that.
  local others = hunks.lines(self.hunk.applied and self.hunk.oldText or self.hunk.newText)
  return not (count == #others and self:text_matches(first, others)) and 'changed' or nil
end

---@param appearance? tark.Appearance nil: draw nothing
---@param force? boolean its text or place differs from what is drawn
function TrackedHunk:draw(appearance, force)
  if not force and appearance == self.appearance and not self.stale then
    return
  end
  self.stale = nil
  local first, count = self:place()
  if appearance == 'pending' then
    count = #hunks.current_lines(self.hunk)
  end
  marks.erase(self.bufnr, self.drawn)
  self.drawn, self.appearance, self.size = { ids = {}, on_top = 0 }, appearance, count or 0
  if appearance and first and count then
    self.drawn = marks.draw(self.bufnr, self.hunk, appearance, first, count)
  end
end

function TrackedHunk:erase()
  self:draw(nil)
  if self.mark then
    vim.api.nvim_buf_del_extmark(self.bufnr, NAMESPACE, self.mark)
    self.mark = nil
  end
end

return TrackedHunk
