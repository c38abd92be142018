---Takes back what turns changed, the last one first.
local notify = require('tark.notify')
local state = require('tark.state')

local M = {}

---@alias tark.ChangedTurn { turnId: string, sessionId: string }

local changed = setmetatable({}, { __mode = 'k' }) ---@type table<tark.State, tark.ChangedTurn[]> as they ended
local passed = {} ---@type table<string, true> turn ids: the person went on to the turn before
local incomplete ---@type string? turn id: the last one of which something could not be taken back

state.on('update', function(known, params)
  if params.update.kind == 'end' and #(params.update.edits or {}) > 0 then
    changed[known] = changed[known] or {}
    table.insert(changed[known], { turnId = params.turnId, sessionId = params.sessionId })
  end
end)

---What ended while we looked on, then what the current session says of its past.
---@param known tark.State
---@return tark.ChangedTurn[] candidates the newest first
local function candidates(known)
  local found, seen = {}, {}
  local function add(turn)
    if not seen[turn.turnId] and not passed[turn.turnId] then
      seen[turn.turnId] = true
      table.insert(found, turn)
    end
  end
  local ended = changed[known] or {}
  for index = #ended, 1, -1 do
    add(ended[index])
  end
  local _, transcript = state.current(known)
  for index = #transcript.turns, 1, -1 do
    local turn = transcript.turns[index]
    if turn.state == 'ended' and #(turn.edits or {}) > 0 then
      add({ turnId = turn.turnId, sessionId = known.session_id })
    end
  end
  return found
end

---@param known tark.State
---@param of tark.ChangedTurn
---@return string prompt in a few words
local function called(known, of)
  for _, turn in ipairs((known.transcripts[of.sessionId] or { turns = {} }).turns) do
    if turn.turnId == of.turnId and turn.prompt ~= '' then
      local line = turn.prompt:match('[^\n]*')
      return ('"%s"'):format(vim.fn.strcharlen(line) > 40 and vim.fn.strcharpart(line, 0, 39) .. '…' or line)
    end
  end
  return 'the last turn'
end

---@param known tark.State
---@param turn_id string
---@return integer number of changes that are not made, and that the person has not decided on
local function undecided(known, turn_id)
  local number = 0
  for _, document in pairs(known.hunks) do
    for _, hunk in ipairs(document.hunks) do
      number = number + (hunk.turnId == turn_id and not hunk.applied and 1 or 0)
    end
  end
  return number
end

---@param known tark.State
---@param turn tark.ChangedTurn
---@param answer { restored: string[], kept: { uri: string, reason: string }[] }
---@param waiting integer
local function tell(known, turn, answer, waiting)
  local name, parts = require('tark.workspace').name, {}
  if #answer.restored > 0 then
    table.insert(
      parts,
      ('took back %s in %s'):format(called(known, turn), table.concat(vim.tbl_map(name, answer.restored), ', '))
    )
  end
  for _, kept in ipairs(answer.kept) do
    table.insert(parts, ('kept %s: %s'):format(name(kept.uri), kept.reason))
  end
  if waiting > 0 then
    local what, waits = require('tark.figures').counted(waiting, 'change'), waiting == 1 and 'waits' or 'wait'
    table.insert(parts, ('%s: %s still %s for your review'):format(called(known, turn), what, waits))
  end
  if #answer.kept + waiting == 0 then
    return notify.say(table.concat(parts, '; '))
  end
  incomplete = turn.turnId
  table.insert(parts, ':TarkUndo! goes on to the turn before')
  notify.warn(table.concat(parts, '; '))
end

---A turn that is taken back already answers that nothing is left of it.
---@param client vim.lsp.Client
---@param known tark.State
---@param turns tark.ChangedTurn[]
local function undo_first(client, known, turns)
  local turn = turns[1]
  if not turn then
    return notify.say('there is nothing to take back')
  end
  require('tark.server').command(client, 'tark.turn.undo', { turnId = turn.turnId }, function(problem, answer)
    if problem then
      return notify.warn(problem)
    end
    local waiting = undecided(known, turn.turnId)
    if #answer.restored + #answer.kept + waiting == 0 then
      return undo_first(client, known, vim.list_slice(turns, 2))
    end
    tell(known, turn, answer, waiting)
  end)
end

---The last turn that changed something; called again, the one before it, once nothing of the last is left to take back.
---@param options? { before?: boolean } go past the one of which something could not be taken back
function M.last(options)
  local client = require('tark.server').client()
  if not client then
    return notify.say('there is nothing to take back: no server runs')
  end
  local known = state.of(client.id)
  local _, transcript = state.current(known)
  for _, turn in ipairs(transcript.turns) do
    if turn.state == 'running' then
      return notify.warn('a turn is still running: end it by :TarkStop before you take it back')
    end
  end
  if incomplete and options and options.before then
    passed[incomplete] = true
  end
  incomplete = nil
  undo_first(client, known, candidates(known))
end

return M
