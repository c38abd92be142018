---Stored sessions, brought into the state: the last messages of them first, earlier ones on demand.
local state = require('tark.state')

local M = {}

M.LAST = 200 -- messages
local MORE = 4 -- times as many when the person wants earlier ones

local asked = {} ---@type table<string, integer> how many messages of a session are wanted, by its id
local whole = {} ---@type table<tark.Transcript, true> those that begin where their session begins, or were loaded
setmetatable(whole, { __mode = 'k' })

---@param known tark.State
---@param session_id string
---@param done fun(problem?: string)
local function load(known, session_id, done)
  local server = require('tark.server')
  local client = server.of(known)
  if not client then
    return done('the server has ended')
  end
  local argument = { sessionId = session_id, last = asked[session_id] or M.LAST }
  server.command(client, 'tark.session.open', argument, function(problem, opened)
    if problem then
      return done(problem)
    end
    -- What comes while it runs has higher numbers than this answer, and goes on from it.
    local talk = require('tark.transcript').from_session(opened)
    whole[talk] = true
    known.transcripts[session_id] = talk
    opened.messages, opened.turns = nil, nil
    known.sessions[session_id] = vim.tbl_extend('force', known.sessions[session_id] or {}, opened)
    state.emit('session', known, session_id)
    done()
  end)
end

---@param known tark.State
---@param session_id string
---@param done fun(problem?: string) at once where all of it is here already
function M.open(known, session_id, done)
  if whole[known.transcripts[session_id] or false] then
    return done()
  end
  load(known, session_id, done)
end

---It was begun here, so that nothing of it is missing.
---@param known tark.State
---@param session_id string
function M.begun(known, session_id)
  local talk = known.transcripts[session_id]
  if talk then
    whole[talk] = true
  end
end

---@param problem? string
local function tell(problem)
  if problem then
    require('tark.notify').warn(problem)
  end
end

---An update is missing, or the server was started anew.
---@param client vim.lsp.Client
---@param session_id string
function M.reload(client, session_id)
  load(state.of(client.id), session_id, tell)
end

---@param known tark.State
---@param session_id string
function M.earlier(known, session_id)
  asked[session_id] = (asked[session_id] or M.LAST) * MORE
  load(known, session_id, tell)
end

---A session that goes on from before a turn: a fork up to the message before it, or a new one.
---@param known tark.State
---@param session_id string
---@param turn_id string
---@param done fun(problem?: string, session_id?: string)
function M.before(known, session_id, turn_id, done)
  local server = require('tark.server')
  local client = server.of(known)
  if not client then
    return done('the server has ended')
  end
  local function begun(problem, session)
    if problem then
      return done(problem)
    end
    M.open(known, session.sessionId, function(failed)
      done(failed, session.sessionId)
    end)
  end
  server.command(client, 'tark.session.open', { sessionId = session_id }, function(problem, opened)
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
        return server.command(client, command, argument, begun)
      end
      before = message.messageId or before
    end
    done('that prompt is not in the session any more')
  end)
end

return M
