---Which hunks a person means: those at the cursor, in the selection, or all of a turn.
local drawing = require('tark.review.drawing')
local hunks = require('tark.review.hunks')

local M = {}

---@alias tark.LineSpan integer[] { first, count } from 0; count 0: between two lines

---Where one goes to see it.
---@param place tark.LineSpan
---@return integer row from 0
function M.row(place)
  return place[2] > 0 and place[1] or math.max(0, place[1] - 1)
end

---The hunks that lines [first, last] mean: those they touch, else those right above the one line. Pure.
---@param places tark.LineSpan[]
---@param first integer
---@param last integer
---@return integer[] indices
function M.touched(places, first, last)
  local inside, beside, below = {}, {}, {}
  for index, place in ipairs(places) do
    local start, count = unpack(place)
    if start <= last and first < start + count then
      table.insert(inside, index)
    elseif count == 0 and start - 1 <= last and first <= start then
      table.insert(beside, index)
    elseif first == last and first == start + count then
      table.insert(below, index)
    end
  end
  if first < last then
    return vim.list_extend(inside, beside)
  end
  return #inside > 0 and inside or #beside > 0 and beside or below
end

---@param places tark.LineSpan[]
---@param row integer
---@return integer? index of the nearest
function M.nearest(places, row)
  local nearest, least
  for index, place in ipairs(places) do
    local distance = math.abs(M.row(place) - row)
    if not least or distance < least then
      nearest, least = index, distance
    end
  end
  return nearest
end

---Those of the current buffer.
---@return tark.Placed[]
---@return tark.LineSpan[]
function M.here()
  local review = drawing.of()
  local placed = review and review:ordered() or {}
  return placed, vim.tbl_map(function(each)
    return { each:place() }
  end, placed)
end

---@return integer first from 0
---@return integer last
local function selected_rows()
  local cursor = vim.fn.line('.') - 1
  if not vim.fn.mode():match('^[vV\22]') then
    return cursor, cursor
  end
  local other = vim.fn.line('v') - 1
  vim.cmd.normal({ '\27', bang = true })
  return math.min(cursor, other), math.max(cursor, other)
end

---@param chosen table<string, tark.Placed> by id
---@return tark.Undecided[]
local function waiting_of(chosen)
  local found = vim.tbl_filter(function(each)
    return chosen[each.hunk.hunkId]
  end, hunks.undecided())
  for _, each in ipairs(found) do
    each.typed_over = chosen[each.hunk.hunkId].look == 'changed'
  end
  return found
end

---@param range? integer[] { first, last } from 1; nil: the selection, else the cursor
---@return tark.Undecided[] empty: nothing is there
---@return string? problem in words, where nothing is there
function M.at(range)
  local placed, places = M.here()
  local first, last
  if range then
    first, last = math.min(range[1], range[2]) - 1, math.max(range[1], range[2]) - 1
  else
    first, last = selected_rows()
  end
  local chosen = {}
  for _, index in ipairs(M.touched(places, first, last)) do
    chosen[placed[index].hunk.hunkId] = placed[index]
  end
  for _, each in ipairs(not next(chosen) and placed or {}) do
    chosen[each.hunk.hunkId] = each.hunk.operation and each or nil -- it is about the file, wherever one is in it
  end
  if not next(chosen) and not range and first == last and #placed == 1 then
    local row = M.row(places[1]) + 1
    local seen = vim.fn.line('w0') <= row and row <= vim.fn.line('w$')
    chosen[placed[1].hunk.hunkId] = seen and placed[1] or nil -- no other can be meant
  end
  local found = waiting_of(chosen)
  if #found > 0 then
    return found
  end
  local nearest = M.nearest(places, first)
  if nearest then
    local key = require('tark.keymaps').mapped('next_hunk')
    local words = ('no change here, the nearest is in line %d'):format(M.row(places[nearest]) + 1)
    return {}, words .. (key and (' (%s goes to the next)'):format(key) or '')
  end
  local all = hunks.undecided()
  return {},
    #all > 0 and ('no change in this file, but %s (:TarkReview)'):format(hunks.count(all)) or 'nothing to review'
end

---@param all tark.Undecided[]
---@return string? turn_id the last turn of the session one is in that has hunks, else any
local function latest(all)
  local turn_id = all[1] and all[1].hunk.turnId
  local has_hunks = {}
  for _, each in ipairs(all) do
    has_hunks[each.hunk.turnId] = true
  end
  for _, known in ipairs(require('tark.state').all()) do
    local talk = known.transcripts[known.session_id or '']
    for _, turn in ipairs(talk and talk.turns or {}) do
      turn_id = has_hunks[turn.turnId] and turn.turnId or turn_id
    end
  end
  return turn_id
end

---All of the turn that the person is at: that of the hunk at the cursor or the nearest, else the last one with hunks.
---@return tark.Undecided[]
function M.turn()
  local placed, places = M.here()
  local row = vim.fn.line('.') - 1
  local all = hunks.undecided()
  local index = M.touched(places, row, row)[1] or M.nearest(places, row)
  local turn_id = index and placed[index].hunk.turnId or latest(all)
  return vim.tbl_filter(function(each)
    return each.hunk.turnId == turn_id
  end, all)
end

return M
