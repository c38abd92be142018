---Takes back what turns changed, the last one first.
local notify = require('tark.notify')
local state = require('tark.state')

local M = {}

---@alias tark.ChangedTurn { turnId: string, sessionId: string }

local changed = setmetatable({}, { __mode = 'k' }) ---@type table<tark.State, tark.ChangedTurn[]> as they ended
local undone = {} ---@type table<string, true> turn ids

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
    if not seen[turn.turnId] and not undone[turn.turnId] then
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
---@param turn tark.ChangedTurn
---@param answer { restored: string[], kept: { uri: string, reason: string }[] }
local function tell(known, turn, answer)
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
  notify[#answer.kept > 0 and 'warn' or 'say'](table.concat(parts, '; '))
end

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
    undone[turn.turnId] = true
    if #answer.restored + #answer.kept == 0 then -- its edits were rejected, or were taken back otherwise
      return undo_first(client, known, vim.list_slice(turns, 2))
    end
    tell(known, turn, answer)
  end)
end

---The last turn that changed something; called again, the one before it.
function M.last()
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
  undo_first(client, known, candidates(known))
end

return M
