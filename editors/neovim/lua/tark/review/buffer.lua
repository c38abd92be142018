---The hunks in one buffer: each update puts them where they stand now, and between updates they follow the text.
local changes = require('tark.review.changes')
local hunks = require('tark.review.hunks')
local Placed = require('tark.review.placed')

---@class tark.BufferReview
---@field bufnr integer
---@field placed table<string, tark.Placed> by id of the hunk
---@field private dirty? integer[] first and last line that changed since the last look
local BufferReview = {}
BufferReview.__index = BufferReview

---@param bufnr integer
---@return tark.BufferReview
function BufferReview.new(bufnr)
  changes.follow(bufnr)
  return setmetatable({ bufnr = bufnr, placed = {} }, BufferReview)
end

---@param one tark.Hunk
---@param other tark.Hunk
---@return boolean
local function same(one, other)
  return one.state == other.state
    and one.applied == other.applied
    and one.reason == other.reason
    and one.newText == other.newText
    and one.oldText == other.oldText
end

---Where the server's word puts a hunk in the text of now. While one types it speaks of an older text: then a hunk that
---is drawn stays where its mark is, and a new one is carried over what was typed.
---@param waiting tark.Undecided
---@param placed tark.Placed
---@return integer? first
---@return integer? count
function BufferReview:place(waiting, placed)
  local first, count = hunks.place(waiting.hunk)
  if waiting.hunk.state == 'pending' then
    count = #hunks.standing(waiting.hunk)
  end
  local version = waiting.version
  if version == changes.version(self.bufnr) or (not version and not vim.bo[self.bufnr].modified) then
    return first, count
  elseif placed.mark and placed:place() then
    return placed:place()
  end
  return version and changes.now(self.bufnr, version, first, count), count
end

---@param waiting tark.Undecided[] all that there are in this buffer
function BufferReview:update(waiting)
  local left = {} ---@type table<string, boolean>
  for _, each in ipairs(waiting) do
    local hunk = each.hunk
    left[hunk.hunkId] = true
    local placed = self.placed[hunk.hunkId] or Placed.new(self.bufnr, hunk)
    local is_new, is_same = not placed.mark, same(placed.hunk, hunk)
    placed.hunk = hunk
    local first, count = self:place(each, placed)
    if first and count and first <= vim.api.nvim_buf_line_count(self.bufnr) then
      local moved = placed:put(first, count)
      local look = placed:looks()
      if is_new and look == 'changed' then
        placed:erase() -- the text is another one than the server speaks of
      else
        placed:draw(look, moved or not is_same)
      end
    end
    self.placed[hunk.hunkId] = placed
  end
  for id, placed in pairs(self.placed) do
    if not left[id] then
      placed:erase()
      self.placed[id] = nil
    end
  end
  self:reveal()
end

---Lines changed; look at what stands there as soon as that is allowed.
---@param first integer
---@param new_last integer
function BufferReview:changed(first, new_last)
  local dirty = self.dirty
  self.dirty = { math.min(dirty and dirty[1] or first, first), math.max(dirty and dirty[2] or new_last, new_last) }
end

---Hunks whose lines were touched look otherwise at once, whatever the server will say.
function BufferReview:check()
  if not self.dirty then
    return
  end
  local first, last = unpack(self.dirty)
  self.dirty = nil
  for _, placed in pairs(self.placed) do
    local start, count = placed:place()
    if start and start <= last + 1 and first - 1 <= start + math.max(count or 0, placed.size) then
      placed:draw(placed:looks(), true)
    elseif not start then
      placed:draw(nil)
    end
  end
end

---The text was read anew: marks are gone, or stand anywhere.
function BufferReview:forget()
  for _, placed in pairs(self.placed) do
    if vim.api.nvim_buf_is_loaded(self.bufnr) then
      placed:erase()
    end
  end
  self.placed = {}
end

---Virtual lines above the first line are not scrolled to by themselves.
function BufferReview:reveal()
  local on_top = 0
  for _, placed in pairs(self.placed) do
    on_top = on_top + placed.drawn.on_top
  end
  for _, window in ipairs(on_top > 0 and vim.fn.win_findbuf(self.bufnr) or {}) do
    vim.api.nvim_win_call(window, function()
      local view = vim.fn.winsaveview()
      if view.topline == 1 and view.topfill < on_top then
        vim.fn.winrestview({ topfill = on_top })
      end
    end)
  end
end

---@return tark.Placed[] those that are drawn, in the order of their places
function BufferReview:ordered()
  local found, starts = {}, {}
  for id, placed in pairs(self.placed) do
    starts[id] = placed.look and placed:place()
    if starts[id] then
      table.insert(found, placed)
    end
  end
  table.sort(found, function(one, other)
    local first, second = starts[one.hunk.hunkId], starts[other.hunk.hunkId]
    if first ~= second then
      return first < second
    end
    return one.hunk.hunkId < other.hunk.hunkId
  end)
  return found
end

return BufferReview
