---The hunks in one buffer. Each update moves them to their current places. Between updates they move with the text.
local changes = require('tark.review.changes')
local hunks = require('tark.review.hunks')
local tracked_hunk = require('tark.review.tracked_hunk')

---@class tark.BufferHunks
---@field bufnr integer
---@field tracked table<string, tark.TrackedHunk> by id of the hunk
---@field private dirty? integer[] first and last line that changed since the last check
local BufferHunks = {}
BufferHunks.__index = BufferHunks

---@param bufnr integer
---@return tark.BufferHunks
function BufferHunks.new(bufnr)
  changes.record_changes(bufnr)
  return setmetatable({ bufnr = bufnr, tracked = {} }, BufferHunks)
end

---@param one tark.Hunk
---@param other tark.Hunk
---@return boolean
local function is_same(one, other)
  return one.state == other.state
    and one.applied == other.applied
    and one.reason == other.reason
    and one.newText == other.newText
    and one.oldText == other.oldText
end

---The place of a hunk in the current text. While the user types, the server refers to an older text. Then a drawn hunk
---stays at its mark, and the place of a new hunk is mapped through the changes.
---@param entry tark.UndecidedHunk
---@param tracked tark.TrackedHunk
---@return integer? first
---@return integer? count
function BufferHunks:place(entry, tracked)
  local first, count = hunks.lines_of_range(entry.hunk)
  if entry.hunk.state == 'pending' then
    count = #hunks.current_lines(entry.hunk)
  end
  local version = entry.version
  if version == changes.version(self.bufnr) or (not version and not vim.bo[self.bufnr].modified) then
    return first, count
  elseif tracked.mark and tracked:place() then
    return tracked:place()
  end
  return version and changes.current_start(self.bufnr, version, first, count), count
end

---@param entries tark.UndecidedHunk[] all undecided hunks of this buffer
function BufferHunks:update(entries)
  local ids = {} ---@type table<string, boolean>
  for _, entry in ipairs(entries) do
    local hunk = entry.hunk
    ids[hunk.hunkId] = true
    local tracked = self.tracked[hunk.hunkId] or tracked_hunk.new(self.bufnr, hunk)
    local is_new, is_unchanged = not tracked.mark, is_same(tracked.hunk, hunk)
    tracked.hunk = hunk
    local first, count = self:place(entry, tracked)
    if first and count and first <= vim.api.nvim_buf_line_count(self.bufnr) then
      local moved = tracked:move_to(first, count)
      local appearance = tracked:current_appearance()
      if is_new and appearance == 'changed' then
        tracked:erase() -- the server refers to another text
      else
        tracked:draw(appearance, moved or not is_unchanged)
      end
    end
    self.tracked[hunk.hunkId] = tracked
  end
  for id, tracked in pairs(self.tracked) do
    if not ids[id] then
      tracked:erase()
      self.tracked[id] = nil
    end
  end
  self:show_top_lines()
end

---Records that lines have changed, so that `check` redraws their hunks.
---@param first integer
---@param new_last integer
function BufferHunks:lines_changed(first, new_last)
  local dirty = self.dirty
  self.dirty = { math.min(dirty and dirty[1] or first, first), math.max(dirty and dirty[2] or new_last, new_last) }
end

---Redraws hunks whose lines have changed, without waiting for the server.
function BufferHunks:check()
  if not self.dirty then
    return
  end
  local first, last = unpack(self.dirty)
  self.dirty = nil
  for _, tracked in pairs(self.tracked) do
    local start, count = tracked:place()
    if start and start <= last + 1 and first - 1 <= start + math.max(count or 0, tracked.size) then
      tracked:draw(tracked:current_appearance(), true)
    elseif not start then
      tracked:draw(nil)
    end
  end
end

---Drops what is drawn after the text was read again: the marks are gone, or at wrong places.
function BufferHunks:reset()
  for _, tracked in pairs(self.tracked) do
    if vim.api.nvim_buf_is_loaded(self.bufnr) then
      tracked:erase()
    end
  end
  self.tracked = {}
end

---Scrolls to virtual lines above the first line, which Neovim does not do by itself.
function BufferHunks:show_top_lines()
  local on_top = 0
  for _, tracked in pairs(self.tracked) do
    on_top = on_top + tracked.drawn.on_top
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

---@return tark.TrackedHunk[] the drawn hunks, in the order of their places
function BufferHunks:ordered()
  local found, starts = {}, {}
  for id, tracked in pairs(self.tracked) do
    starts[id] = tracked.appearance and tracked:place()
    if starts[id] then
      table.insert(found, tracked)
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

return BufferHunks
