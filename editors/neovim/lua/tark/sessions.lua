---Stored sessions, brought into the state: the last messages of them first, earlier ones on demand.
local updates = require('tark.updates')

local M = {}

local LAST = 200 -- messages
local MORE = 4 -- times as many when the person wants earlier ones

---@param problem? string
local function tell(problem)
  if problem then
    require('tark.notify').warn(problem)
  end
end

---@param known tark.State
---@param session_id string
---@param last? integer of how many messages; nil: of as many as before
---@param done fun(problem?: string)
function M.load(known, session_id, last, done)
  local server = require('tark.server')
  local client = server.of(known)
  if not client then
    return done('the server has ended')
  end
  last = last or (known.transcripts[session_id] or {}).last or LAST
  server.command(client, 'tark.session.open', { sessionId = session_id, last = last }, function(problem, opened)
    if opened then
      updates.opened(known, opened, last)
    end
    done(problem)
  end)
end

---@param known tark.State
---@param session_id string
---@param done fun(problem?: string) at once where all of it is here already
function M.open(known, session_id, done)
  if (known.transcripts[session_id] or {}).complete then
    return done()
  end
  M.load(known, session_id, nil, done)
end

---An update is missing.
---@param known tark.State
---@param session_id string
function M.reload(known, session_id)
  M.load(known, session_id, nil, tell)
end

---@param known tark.State
---@param session_id string
function M.earlier(known, session_id)
  M.load(known, session_id, (known.transcripts[session_id].last or LAST) * MORE, tell)
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
