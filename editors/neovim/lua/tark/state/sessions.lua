---Changes which session is current, and the settings of sessions.
local handlers = require('tark.server.handlers')
local state = require('tark.state')

local M = {}

---@param server_state tark.State
---@param session_id? string nil: the next turn starts a new one
function M.select_session(server_state, session_id)
  server_state.session_id = session_id
  state.emit('session', server_state, session_id)
end

---`tark/session`.
---@param params { session: table }
---@param client_id integer
function M.session_received(params, client_id)
  local server_state, session = state.of_client(client_id), params.session
  server_state.sessions[session.sessionId] = session
  state.emit('session', server_state, session.sessionId)
end

---@param server_state tark.State
---@param session_id? string nil: settings of new sessions
---@param values table settings, or other fields of `tark/session`
function M.set_fields(server_state, session_id, values)
  local function changed(fields)
    local new = vim.tbl_extend('force', fields, values)
    if values.mode then -- the update has all settings; null values are not in the table
      new.agent, new.effective = values.agent, values.effective
    end
    return new
  end
  if session_id then
    server_state.sessions[session_id] = changed(server_state.sessions[session_id] or {})
  else
    server_state.settings = changed(server_state.settings)
  end
  state.emit('session', server_state, session_id)
end

---The session was deleted.
---@param server_state tark.State
---@param session_id string
function M.remove_session(server_state, session_id)
  server_state.sessions[session_id], server_state.transcripts[session_id] = nil, nil
  if server_state.session_id == session_id then
    server_state.session_id = nil
  end
  state.emit('session', server_state, server_state.session_id)
end

handlers.register('tark/session', M.session_received)

return M
