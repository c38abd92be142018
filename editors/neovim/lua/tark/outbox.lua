---What the person says goes to a server one after the other, from commands and from the chat alike, so that the second
---of two quick ones goes on with the session that the first begins.
local M = {}

---@alias tark.Sending fun(done: fun()) sends one, and calls `done` once the server took or refused it

local queues = {} ---@type table<integer, tark.Sending[]> by client id; the first is on its way

---@param client_id integer
local function next_of(client_id)
  local queue = queues[client_id]
  local sending = queue[1]
  if not sending then
    queues[client_id] = nil
    return
  end
  local over = false
  local function done()
    if not over then
      over = true
      table.remove(queue, 1)
      next_of(client_id)
    end
  end
  local ok, traceback = xpcall(sending, debug.traceback, done)
  if not ok then
    require('tark.notify').bug(traceback)
    done()
  end
end

---@param client vim.lsp.Client
---@param sending tark.Sending
function M.add(client, sending)
  if queues[client.id] then
    table.insert(queues[client.id], sending)
  else
    queues[client.id] = { sending }
    next_of(client.id)
  end
end

---A turn goes out, in the session that is the current one now. Called when it is its turn in the queue.
---@param client vim.lsp.Client
---@param params table of `tark.turn.start`, but for the session
---@param done fun(problem?: string, answer?: { sessionId: string, turnId: string, queued?: integer })
function M.start(client, params, done)
  local known = require('tark.state').of(client.id)
  local session_id = known.session_id
  params = vim.tbl_extend('force', params, { sessionId = session_id })
  require('tark.server').command(client, 'tark.turn.start', params, function(problem, answer)
    if answer then
      require('tark.updates').asked(known, session_id, answer, params.prompt)
    end
    done(problem, answer)
  end)
end

return M
