---`:TarkBuild`: approves the plan of a turn in mode plan. The mode becomes build, and a prompt tells the model to carry
---out the plan.
local clients = require('tark.server.clients')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local state = require('tark.state')
local turn = require('tark.commands.turn')

local M = {}

local CARRY_OUT = 'I approve the plan. Carry it out.' -- the other clients send the same

function M.build()
  local client = clients.for_buffer()
  local server_state = client and state.of_client(client.id)
  if not client or not server_state or state.current_session(server_state).mode ~= 'plan' then
    return notify.info('there is no plan: the mode of this session is not plan')
  end
  local argument = { sessionId = server_state.session_id, mode = 'build' }
  requests.send_command(client, 'tark.settings.set', argument, function(problem)
    if problem then
      return notify.warn(problem)
    end
    turn.start_turn('agent', { prompt = CARRY_OUT })
  end)
end

return M
