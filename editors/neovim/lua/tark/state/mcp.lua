---Notifies views when the list of MCP servers and hooks changes, and which of them wait for the user.
local handlers = require('tark.server.handlers')
local state = require('tark.state')

local M = {}

---`tark/mcp`.
---@param params { unanswered: tark.Unanswered[] }
---@param client_id integer
function M.changed(params, client_id)
  state.emit('mcp', state.of_client(client_id), params.unanswered)
end

handlers.register('tark/mcp', M.changed)

return M
