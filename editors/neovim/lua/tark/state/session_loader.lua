---Loads stored sessions into the state: their last messages first, earlier ones on demand.
local clients = require('tark.server.clients')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local state = require('tark.state')
local updates = require('tark.state.updates')

local M = {}

local LAST = 200 -- messages
local MORE = 4 -- the factor by which the number grows when the user wants earlier messages
local ENDED = 'the server has ended'

---@param problem? string
local function warn(problem)
  if problem then
    notify.warn(problem)
  end
end

---@param server_state tark.State
---@param session_id string
---@param last? integer number of messages; nil: as many as before
---@param done fun(problem?: string)
function M.load_session(server_state, session_id, last, done)
  local client = clients.by_id(server_state.client_id)
  if not client then
    return done(ENDED)
  end
  last = last or (server_state.transcripts[session_id] or {}).last or LAST
  local argument = { sessionId = session_id, last = last }
  requests.send_command(client, 'tark.session.open', argument, function(problem, opened)
    if opened then
      updates.session_opened(server_state, opened, last)
    end
    done(problem)
  end)
end

---@param server_state tark.State
---@param session_id string
---@param done fun(problem?: string) called at once if the session is loaded already
function M.ensure_loaded(server_state, session_id, done)
  if (server_state.transcripts[session_id] or {}).complete then
    return done()
  end
  M.load_session(server_state, session_id, nil, done)
end

---@param server_state tark.State
---@param session_id string
function M.load_earlier(server_state, session_id)
  M.load_session(server_state, session_id, (server_state.transcripts[session_id].last or LAST) * MORE, warn)
end

---Creates a session that continues from before a turn: a fork up to the message before the turn, or a new session.
---@param server_state tark.State
---@param session_id string
---@param turn_id string
---@param done fun(problem?: string, session_id?: string)
function M.create_session_before(server_state, session_id, turn_id, done)
  local client = clients.by_id(server_state.client_id)
  if not client then
    return done(ENDED)
  end
  local function created(problem, session)
    if problem then
      return done(problem)
    end
    M.ensure_loaded(server_state, session.sessionId, function(failed)
      done(failed, session.sessionId)
    end)
  end
  requests.send_command(client, 'tark.session.open', { sessionId = session_id }, function(problem, opened)
    if problem then
      return done(problem)
    end
    local before ---@type string?
    for _, message in ipairs(opened.messages) do
      if message.turnId == turn_id then
        local command, argument = 'tark.session.new', {}
        if before then
          command, argument = 'tark.session.fork', { sessionId = session_id, messageId = before }
        end
        return requests.send_command(client, command, argument, created)
      end
      before = message.messageId or before
    end
    done('that prompt is not in the session any more')
  end)
end

state.on('gap', function(server_state, session_id)
  M.load_session(server_state, session_id, nil, warn)
end)

return M
