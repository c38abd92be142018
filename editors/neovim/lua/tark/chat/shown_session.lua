---Which session the chat shows: the current session of one server's state.
local clients = require('tark.server.clients')
local lifecycle = require('tark.server.lifecycle')
local listeners = require('tark.listeners')
local notify = require('tark.notify')
local session_loader = require('tark.state.session_loader')
local state = require('tark.state')

local M = {}

---@alias tark.ShownEvent
---| 'server'  # () the chat shows a session of another server, or its server was started again
---| 'changed' # () the chat must be redrawn

M.was_opened = false -- has a window of the chat ever been open?

local shown ---@type tark.State?
local events = listeners.new()

---@param event tark.ShownEvent
---@param listener fun()
function M.on(event, listener)
  events:on(event, listener)
end

---@return tark.State?
function M.state()
  return shown
end

---@return vim.lsp.Client? client that runs
function M.client()
  return shown and clients.by_id(shown.client_id)
end

function M.emit_changed()
  events:emit('changed')
end

---Switches the chat to the current session of a state, and loads the session if necessary.
---@param server_state tark.State
function M.show_state(server_state)
  shown = server_state
  events:emit('server')
  if server_state.session_id and server_state.alive then
    session_loader.ensure_loaded(server_state, server_state.session_id, function(problem)
      if problem then
        notify.warn(problem)
      end
      M.emit_changed()
    end)
  end
end

---Gets the client of the shown session. If none runs, starts a server.
---@param done fun(problem?: string, client?: vim.lsp.Client)
function M.ensure_client(done)
  local running = M.client()
  if running then
    return done(nil, running)
  end
  lifecycle.ensure_server(nil, function(problem, client)
    if client and shown ~= state.of_client(client.id) then
      M.show_state(state.of_client(client.id))
      M.emit_changed()
    end
    done(problem, client)
  end)
end

return M
