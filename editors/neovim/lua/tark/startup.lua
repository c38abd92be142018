---Connects the layers: loads the modules that listen to the server or to the state once the first server has started.
---No other module requires them for that, so lower layers do not depend on upper layers (spec/layers_spec.lua).
local lifecycle = require('tark.server.lifecycle')
local notify = require('tark.notify')

local M = {}

M.MODULES = {
  'tark.server.chat_client',
  'tark.state.connection',
  'tark.state.updates',
  'tark.state.sessions',
  'tark.state.session_loader',
  'tark.state.waiting',
  'tark.state.progress',
  'tark.state.mcp',
  'tark.chat',
  'tark.turn_notices',
  'tark.user_events',
  'tark.review.drawing',
  'tark.status',
  'tark.commands.undo',
  'tark.commands.restart',
  'tark.commands.unnamed_buffers',
  'tark.waiting.float',
  'tark.mcp.news',
}

---Views of the float by kind of request. They are loaded with the first request.
M.WAITING_VIEWS = { permissions = 'tark.permission.view', inputs = 'tark.input.view' }

local loaded = false

---All are loaded even if one of them fails.
function M.load_modules()
  if loaded then
    return
  end
  loaded = true
  for _, name in ipairs(M.MODULES) do
    local ok, traceback = xpcall(require, debug.traceback, name)
    if not ok then
      notify.internal_error(traceback)
    end
  end
  for kind, name in pairs(M.WAITING_VIEWS) do
    require('tark.waiting.card').register_view(kind, function()
      return require(name)
    end)
  end
  require('tark.mapped_keys').functions = require('tark')
end

lifecycle.on('initialized', function(client)
  M.load_modules()
  require('tark.state.connection').begin(client)
end)

return M
