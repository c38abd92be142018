---Finds the hunks that the user means: hunks at the cursor, in the selection, or all hunks of a turn.
local drawing = require('tark.review.drawing')
local hunks = require('tark.review.hunks')
local mapped_keys = require('tark.mapped_keys')
local state = require('tark.state')

local M = {}

---@alias tark.LineSpan integer[] { first, count } from 0; count 0: between two lines

---The row to which the cursor moves for a hunk.
---@param place tark.LineSpan
---@return integer row from 0
function M.row(place)
  return place[2] > 0 and place[1] or math.max(0, place[1] - 1)
end

---The hunks that a selection of lines [first, last] means: hunks that the lines touch, else hunks directly above a
---single line. Pure.
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

---The drawn hunks of the current buffer.
---@return tark.TrackedHunk[]
---@return tark.LineSpan[]
function M.hunks_of_buffer()
  local in_buffer = drawing.of_buffer()
  local tracked = in_buffer and in_buffer:ordered() or {}
  return tracked, vim.tbl_map(function(hunk)
    return { hunk:place() }
  end, tracked)
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

---@param chosen table<string, tark.TrackedHunk> by id
---@return tark.UndecidedHunk[]
local function undecided_of(chosen)
  local found = vim.tbl_filter(function(entry)
    return chosen[entry.hunk.hunkId]
  end, hunks.undecided())
  for _, entry in ipairs(found) do
    entry.typed_over = chosen[entry.hunk.hunkId].appearance == 'changed'
  end
  return found
end

---@param range? integer[] { first, last } from 1; nil: the selection, else the cursor
---@return tark.UndecidedHunk[] empty: nothing is there
---@return string? problem if nothing is there
function M.hunks_at(range)
  local tracked, places = M.hunks_of_buffer()
  local first, last
  if range then
    first, last = math.min(range[1], range[2]) - 1, math.max(range[1], range[2]) - 1
  else
    first, last = selected_rows()
  end
  local chosen = {}
  for _, index in ipairs(M.touched(places, first, last)) do
    chosen[tracked[index].hunk.hunkId] = tracked[index]
  end
  for _, candidate in ipairs(not next(chosen) and tracked or {}) do
    chosen[candidate.hunk.hunkId] = candidate.hunk.operation and candidate or nil -- the hunk is about the whole file
  end
  if not next(chosen) and not range and first == last and #tracked == 1 then
    local row = M.row(places[1]) + 1
    local is_visible = vim.fn.line('w0') <= row and row <= vim.fn.line('w$')
    chosen[tracked[1].hunk.hunkId] = is_visible and tracked[1] or nil -- it is the only hunk, so the user means it
  end
  local found = undecided_of(chosen)
  if #found > 0 then
    return found
  end
  local nearest = M.nearest(places, first)
  if nearest then
    local key = mapped_keys.find_key('next_hunk')
    local problem = ('no change here, the nearest is in line %d'):format(M.row(places[nearest]) + 1)
    return {}, problem .. (key and (' (%s goes to the next)'):format(key) or '')
  end
  local all = hunks.undecided()
  return {},
    #all > 0 and ('no change in this file, but %s (:TarkReview)'):format(hunks.describe_count(all))
      or 'nothing to review'
end

---@param all tark.UndecidedHunk[]
---@return string? turn_id the last turn of the current session that has hunks, else any turn with hunks
local function latest_turn(all)
  local turn_id = all[1] and all[1].hunk.turnId
  local has_hunks = {}
  for _, entry in ipairs(all) do
    has_hunks[entry.hunk.turnId] = true
  end
  for _, server_state in ipairs(state.all()) do
    local transcript = server_state.transcripts[server_state.session_id or '']
    for _, turn in ipairs(transcript and transcript.turns or {}) do
      turn_id = has_hunks[turn.turnId] and turn.turnId or turn_id
    end
  end
  return turn_id
end

---All hunks of one turn: the turn of the hunk at the cursor or nearest to it, else the last turn that has hunks.
---@return tark.UndecidedHunk[]
function M.hunks_of_turn()
  local tracked, places = M.hunks_of_buffer()
  local row = vim.fn.line('.') - 1
  local all = hunks.undecided()
  local index = M.touched(places, row, row)[1] or M.nearest(places, row)
  local turn_id = index and tracked[index].hunk.turnId or latest_turn(all)
  return vim.tbl_filter(function(entry)
    return entry.hunk.turnId == turn_id
  end, all)
end

return M
