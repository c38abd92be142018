---`:TarkUndo`: undoes what turns changed, the last turn first.
local clients = require('tark.server.clients')
local figures = require('tark.figures')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local state = require('tark.state')
local workspace = require('tark.workspace')

local M = {}

---@alias tark.ChangedTurn { turnId: string, sessionId: string }

local LONGEST_PROMPT = 40 -- characters

local changed = setmetatable({}, { __mode = 'k' }) ---@type table<tark.State, tark.ChangedTurn[]> in order of their ends
local skipped = {} ---@type table<string, true> ids of turns that the user skipped
local incomplete ---@type string? id of the last turn that could not be undone completely

---@param turn { edits?: table[], changedByCommand?: string[] }
---@return boolean
local function changed_files(turn)
  return #(turn.edits or {}) + #(turn.changedByCommand or {}) > 0
end

state.on('update', function(server_state, params)
  if params.update.kind == 'end' and changed_files(params.update) then
    changed[server_state] = changed[server_state] or {}
    table.insert(changed[server_state], { turnId = params.turnId, sessionId = params.sessionId })
  end
end)

---Turns that ended while Neovim ran, then earlier turns of the current session.
---@param server_state tark.State
---@return tark.ChangedTurn[] candidates the newest first
local function undo_candidates(server_state)
  local found, seen = {}, {}
  local function add(turn)
    if not seen[turn.turnId] and not skipped[turn.turnId] then
      seen[turn.turnId] = true
      table.insert(found, turn)
    end
  end
  local ended = changed[server_state] or {}
  for index = #ended, 1, -1 do
    add(ended[index])
  end
  local _, transcript = state.current_session(server_state)
  for index = #transcript.turns, 1, -1 do
    local turn = transcript.turns[index]
    if turn.state == 'ended' and changed_files(turn) then
      add({ turnId = turn.turnId, sessionId = server_state.session_id })
    end
  end
  return found
end

---@param server_state tark.State
---@param changed_turn tark.ChangedTurn
---@return string prompt shortened, in quotes
local function turn_label(server_state, changed_turn)
  for _, turn in ipairs((server_state.transcripts[changed_turn.sessionId] or { turns = {} }).turns) do
    if turn.turnId == changed_turn.turnId and turn.prompt ~= '' then
      local line = turn.prompt:match('[^\n]*')
      local is_long = vim.fn.strcharlen(line) > LONGEST_PROMPT
      return ('"%s"'):format(is_long and vim.fn.strcharpart(line, 0, LONGEST_PROMPT - 1) .. '…' or line)
    end
  end
  return 'the last turn'
end

---@param server_state tark.State
---@param turn_id string
---@return integer number of the turn's changes that are not applied, and that the user has not decided on
local function count_undecided(server_state, turn_id)
  local number = 0
  for _, document in pairs(server_state.hunks) do
    for _, hunk in ipairs(document.hunks) do
      number = number + (hunk.turnId == turn_id and not hunk.applied and 1 or 0)
    end
  end
  return number
end

---@param server_state tark.State
---@param turn tark.ChangedTurn
---@param answer { restored: string[], kept: { uri: string, reason: string }[], note?: string }
---@param undecided integer
local function report(server_state, turn, answer, undecided)
  local label, parts = turn_label(server_state, turn), {}
  if #answer.restored > 0 then
    local files = table.concat(vim.tbl_map(workspace.display_name, answer.restored), ', ')
    table.insert(parts, ('took back %s in %s'):format(label, files))
    table.insert(parts, answer.note)
  end
  for _, kept in ipairs(answer.kept) do
    table.insert(parts, ('kept %s: %s'):format(workspace.display_name(kept.uri), kept.reason))
  end
  if undecided > 0 then
    local verb = undecided == 1 and 'waits' or 'wait'
    table.insert(parts, ('%s: %s still %s for your review'):format(label, figures.counted(undecided, 'change'), verb))
  end
  if #answer.kept + undecided == 0 then
    return notify.info(table.concat(parts, '; '))
  end
  incomplete = turn.turnId
  table.insert(parts, ':TarkUndo! goes on to the turn before')
  notify.warn(table.concat(parts, '; '))
end

---Undoes the first turn that still has something to undo. The server's answer says whether a turn does.
---@param client vim.lsp.Client
---@param server_state tark.State
---@param turns tark.ChangedTurn[]
local function undo_first(client, server_state, turns)
  local turn = turns[1]
  if not turn then
    return notify.info('there is nothing to undo')
  end
  requests.send_command(client, 'tark.turn.undo', { turnId = turn.turnId }, function(problem, answer)
    if problem then
      return notify.warn(problem)
    end
    local undecided = count_undecided(server_state, turn.turnId)
    if #answer.restored + #answer.kept + undecided == 0 then
      return undo_first(client, server_state, vim.list_slice(turns, 2))
    end
    report(server_state, turn, answer, undecided)
  end)
end

---Undoes the last turn that changed something. Called again, it undoes the turn before, once nothing is left of the
---last one.
---@param options? { before?: boolean } skip the turn that could not be undone completely
function M.undo_last_turn(options)
  local client = clients.for_buffer()
  if not client then
    return notify.info('there is nothing to undo: no server is running')
  end
  local server_state = state.of_client(client.id)
  local _, transcript = state.current_session(server_state)
  for _, turn in ipairs(transcript.turns) do
    if turn.state == 'running' then
      return notify.warn('a turn is still running: stop it with :TarkStop before you undo it')
    end
  end
  if incomplete and options and options.before then
    skipped[incomplete] = true
  end
  incomplete = nil
  undo_first(client, server_state, undo_candidates(server_state))
end

return M
