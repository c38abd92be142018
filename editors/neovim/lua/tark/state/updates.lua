---Puts turns into the transcripts: what the server reports, and what the user sends.
local handlers = require('tark.server.handlers')
local hunks = require('tark.state.hunks')
local sessions = require('tark.state.sessions')
local state = require('tark.state')
local stored_session = require('tark.state.stored_session')
local transcripts = require('tark.state.transcript')

local M = {}

---@param server_state tark.State
---@param session_id string
---@return tark.Transcript
local function transcript_of(server_state, session_id)
  server_state.transcripts[session_id] = server_state.transcripts[session_id] or transcripts.new(session_id)
  return server_state.transcripts[session_id]
end

---Emits a change of the transcript that was not made by an update of the server.
---@param server_state tark.State
---@param transcript tark.Transcript
---@param change tark.Change
local function emit_own_change(server_state, transcript, change)
  local update = { kind = 'own' }
  local params = { sessionId = transcript.sessionId, turnId = change.turn.turnId, seq = 0, update = update }
  state.emit('update', server_state, params, change)
end

---`tark/update`.
---@param params tark.UpdateParams
---@param client_id integer
function M.update_received(params, client_id)
  local server_state = state.of_client(client_id)
  local update = params.update
  if update.kind == 'hunks' then
    hunks.set_document_hunks(server_state, update)
  end
  if params.sessionId == '' then
    return -- hunks of a session that was deleted
  end
  local transcript = transcript_of(server_state, params.sessionId)
  local change = transcripts.reduce(transcript, params)
  if change then
    change.turn.began = change.turn.began or vim.uv.now()
  end
  state.emit('update', server_state, params, change)
  if change and change.turn.gap and not transcript.reloading then
    transcript.reloading = true -- a new transcript replaces this one; if it cannot be loaded, the user gets one message
    state.emit('gap', server_state, params.sessionId)
  end
end

---Called when the server accepted a turn. The transcript shows the turn before its first update, which comes when the
---turns before it have ended. The user's next prompt continues its session.
---@param server_state tark.State
---@param session_id? string the session it was sent to; nil: a new one
---@param answer { sessionId: string, turnId: string }
---@param prompt string
function M.turn_accepted(server_state, session_id, answer, prompt)
  local transcript = transcript_of(server_state, answer.sessionId)
  transcript.complete = transcript.complete or not session_id
  local change = transcripts.add_queued_turn(transcript, answer.turnId, prompt)
  if change then
    change.turn.began = vim.uv.now()
    emit_own_change(server_state, transcript, change)
  end
  -- If they differ, the user has chosen another session in the meantime.
  if server_state.session_id == session_id and session_id ~= answer.sessionId then
    sessions.select_session(server_state, answer.sessionId)
  end
end

---Called when the running turn accepted a message of the user.
---@param server_state tark.State
---@param session_id string
---@param turn_id string
---@param prompt string
function M.steer_accepted(server_state, session_id, turn_id, prompt)
  local transcript = transcript_of(server_state, session_id)
  emit_own_change(server_state, transcript, transcripts.add_steer(transcript, turn_id, prompt))
end

---Called when a stored session was loaded. Updates that arrived in the meantime have higher numbers, and are applied
---after it.
---@param server_state tark.State
---@param opened table the answer of `tark.session.open`
---@param last integer how many messages were requested
function M.session_opened(server_state, opened, last)
  local session_id = opened.sessionId
  local former = server_state.transcripts[session_id] or { byId = {} }
  local transcript = stored_session.transcript(opened)
  transcript.complete, transcript.last = true, last
  for turn_id, turn in pairs(transcript.byId) do
    turn.began = (former.byId[turn_id] or {}).began or vim.uv.now()
  end
  server_state.transcripts[session_id] = transcript
  opened.messages, opened.turns = nil, nil
  sessions.set_fields(server_state, session_id, opened)
end

handlers.register('tark/update', M.update_received)

return M
