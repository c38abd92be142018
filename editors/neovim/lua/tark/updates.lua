---What the server tells of turns enters the state here, and nowhere else.
local state = require('tark.state')
local transcript = require('tark.transcript')

local M = {}

---@param params tark.UpdateParams
---@param client_id integer
function M.received(params, client_id)
  local known = state.of(client_id)
  local update = params.update
  if update.kind == 'hunks' then
    known.hunks[update.uri] = #update.hunks > 0 and update or nil
    state.emit('hunks', known, update.uri)
  end
  known.transcripts[params.sessionId] = known.transcripts[params.sessionId] or transcript.new()
  local change = transcript.reduce(known.transcripts[params.sessionId], params)
  state.emit('update', known, params, change)
end

---@param session table
---@param client_id integer
function M.session(session, client_id)
  local known = state.of(client_id)
  known.sessions[session.sessionId] = session
  state.emit('session', known, session.sessionId)
end

return M
