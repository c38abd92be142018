---Keeps the state up to date when a server starts and ends.
local clients = require('tark.server.clients')
local hunks = require('tark.state.hunks')
local lifecycle = require('tark.server.lifecycle')
local requests = require('tark.server.requests')
local state = require('tark.state')
local transcripts = require('tark.state.transcript')

local M = {}

local interrupted = {} ---@type table<tark.State, table<string, true>> sessions with interrupted turns

---@param client vim.lsp.Client
function M.begin(client)
  state.begin(client.id, client.root_dir)
end

---@param server_state tark.State
---@param answer table of `tark.state`
local function set_answer(server_state, answer)
  server_state.prompts, server_state.settings = answer.prompts or {}, answer.settings or {}
  server_state.permissions, server_state.inputs = answer.permissions or {}, answer.inputs or {}
  for _, session in ipairs(answer.sessions or {}) do
    local former = server_state.sessions[session.sessionId] or {}
    server_state.sessions[session.sessionId] = vim.tbl_extend('force', former, session)
  end
  state.emit('permission', server_state)
  state.emit('input', server_state)
  state.emit('session', server_state)
end

---Reloads the sessions of interrupted turns, because the next server knows which of their edits still wait.
---@param server_state tark.State
local function load_interrupted(server_state)
  local sessions = interrupted[server_state] or {}
  interrupted[server_state] = nil
  for session_id in pairs(sessions) do
    state.emit('gap', server_state, session_id)
  end
end

---Requests the state and all hunks from the server, so that views are redrawn.
---@param server_state tark.State
function M.refresh(server_state)
  local client = clients.by_id(server_state.client_id)
  if not client then
    return
  end
  requests.send_command(client, 'tark.state', nil, function(_, answer)
    if answer then
      set_answer(server_state, answer)
      load_interrupted(server_state)
    end
  end)
  requests.send_command(client, 'tark.hunk.list', nil, function(_, answer)
    if answer then
      hunks.set_all_hunks(server_state, answer.hunks)
    end
  end)
end

---Called when the server has ended: its turns are over, and nothing waits for the user any more. The next server sends
---the hunks again.
---@param server_state tark.State
---@return integer number of turns that were interrupted
function M.end_server(server_state)
  local number = 0
  server_state.alive = false
  for session_id, transcript in pairs(server_state.transcripts) do
    for _, turn in ipairs(transcripts.interrupt(transcript)) do
      number = number + 1
      interrupted[server_state] = interrupted[server_state] or {}
      interrupted[server_state][session_id] = true
      local update = { kind = 'end', stopReason = turn.stopReason, error = turn.error, text = '', edits = {} }
      local params = { sessionId = session_id, turnId = turn.turnId, seq = turn.seq, update = update }
      state.emit('update', server_state, params, { turn = turn, kind = 'turn' })
    end
  end
  server_state.permissions, server_state.inputs = {}, {}
  server_state.tokens, server_state.activity = {}, ''
  state.emit('permission', server_state)
  state.emit('input', server_state)
  hunks.remove_all_hunks(server_state)
  state.emit('server', server_state, 'ended')
  return number
end

lifecycle.on('started', function(client)
  local server_state = state.of_client(client.id)
  state.emit('server', server_state, 'started')
  M.refresh(server_state)
end)
lifecycle.on('attached', function(client, bufnr)
  state.emit('attach', state.of_client(client.id), bufnr)
end)

return M
