---`:TarkStop`: cancels turns.
local clients = require('tark.server.clients')
local figures = require('tark.figures')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local state = require('tark.state')

local M = {}

---@param server_state tark.State
---@return string
local function nothing_runs(server_state)
  local unended = state.unended_turns(server_state)
  local elsewhere = #unended.running + #unended.queued
  return elsewhere == 0 and 'nothing is running'
    or ('nothing is running in this session, but %s elsewhere: :TarkStop! ends them'):format(
      figures.counted(elsewhere, 'turn')
    )
end

---@param client vim.lsp.Client
---@param all boolean
local function stop(client, all)
  local server_state = state.of_client(client.id)
  if not all and not server_state.session_id then
    return notify.info(nothing_runs(server_state))
  end
  local argument = { sessionId = not all and server_state.session_id or nil }
  requests.send_command(client, 'tark.turn.cancel', argument, function(problem, answer)
    if problem then
      return notify.warn(problem)
    end
    local number = #answer.cancelled
    notify.info(number > 0 and ('cancelled %s'):format(figures.counted(number, 'turn')) or nothing_runs(server_state))
    for token in pairs(all and server_state.tokens or {}) do
      client:notify('window/workDoneProgress/cancel', { token = token })
    end
  end)
end

---Cancels the turns of the current session, or all turns.
---@param options? { all?: boolean }
function M.stop(options)
  local all = options ~= nil and options.all == true
  local running = all and vim.lsp.get_clients({ name = clients.NAME }) or { clients.for_buffer() }
  if #running == 0 then
    notify.info('nothing is running')
  end
  for _, client in ipairs(running) do
    stop(client, all)
  end
end

return M
