---Sends the user's prompts to a server one after the other, both from commands and from the chat. If two prompts are
---sent quickly, the second one continues the session that the first one starts.
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local state = require('tark.state')
local updates = require('tark.state.updates')

local M = {}

---@alias tark.SendJob fun(done: fun()) sends a prompt, and calls `done` once the server has accepted or refused it

local queues = {} ---@type table<integer, tark.SendJob[]> by client id; the first job is running

---@param client_id integer
local function run_next(client_id)
  local queue = queues[client_id]
  local job = queue[1]
  if not job then
    queues[client_id] = nil
    return
  end
  local is_done = false
  local function done()
    if not is_done then
      is_done = true
      table.remove(queue, 1)
      run_next(client_id)
    end
  end
  local ok, traceback = xpcall(job, debug.traceback, done)
  if not ok then
    notify.internal_error(traceback)
    done()
  end
end

---@param client vim.lsp.Client
---@param job tark.SendJob
function M.enqueue(client, job)
  if queues[client.id] then
    table.insert(queues[client.id], job)
  else
    queues[client.id] = { job }
    run_next(client.id)
  end
end

---@param client vim.lsp.Client
---@return boolean is_busy a turn of the current session runs or waits
function M.is_busy(client)
  local _, transcript = state.current_session(state.of_client(client.id))
  return vim.iter(transcript.turns):any(function(turn)
    return turn.state ~= 'ended'
  end)
end

---Starts a turn in the current session. Call this in a job of the queue.
---@param client vim.lsp.Client
---@param params table of `tark.turn.start`, without the session
---@param done fun(problem?: string, answer?: { sessionId: string, turnId: string, queued?: integer })
---@param has_own_session? boolean start the turn in a new session, while the current session stays the same
function M.start_turn(client, params, done, has_own_session)
  local server_state = state.of_client(client.id)
  local session_id = nil ---@type string?
  if not has_own_session then
    session_id = server_state.session_id
  end
  params = vim.tbl_extend('force', params, { sessionId = session_id })
  requests.send_command(client, 'tark.turn.start', params, function(problem, answer)
    if answer then
      updates.turn_accepted(server_state, session_id, answer, params.prompt)
    end
    done(problem, answer)
  end)
end

return M
