---What runs, and its end: the server's work-done progress, and cancelling.
local state = require('tark.state')

local M = {}

vim.api.nvim_create_autocmd('LspProgress', {
  group = vim.api.nvim_create_augroup('tark_progress', {}),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'tark' then
      local params = event.data.params
      require('tark.updates').progressed(state.of(client.id), params.token, params.value)
    end
  end,
})

---@param number integer
local function turns(number)
  return ('%d turn%s'):format(number, number == 1 and '' or 's')
end

---@param known tark.State
---@return string
local function nothing_runs(known)
  local unended = state.unended(known)
  local elsewhere = #unended.running + #unended.queued
  return elsewhere == 0 and 'nothing is running'
    or ('nothing is running in this session, but %s elsewhere: :TarkStop! ends them'):format(turns(elsewhere))
end

---@param client vim.lsp.Client
---@param all boolean
local function stop(client, all)
  local server, notify = require('tark.server'), require('tark.notify')
  local known = state.of(client.id)
  if not all and not known.session_id then
    return notify.say(nothing_runs(known))
  end
  local which = { sessionId = not all and known.session_id or nil }
  server.command(client, 'tark.turn.cancel', which, function(problem, answer)
    if problem then
      return notify.warn(problem)
    end
    local cancelled = #answer.cancelled
    notify.say(cancelled > 0 and ('cancelled %s'):format(turns(cancelled)) or nothing_runs(known))
    for token in pairs(all and known.tokens or {}) do
      client:notify('window/workDoneProgress/cancel', { token = token })
    end
  end)
end

---Cancel the turns of the current session, or all there are.
---@param options? { all?: boolean }
function M.stop(options)
  local all = options ~= nil and options.all == true
  local current = require('tark.server').client()
  local clients = all and vim.lsp.get_clients({ name = 'tark' }) or { current }
  if #clients == 0 then
    require('tark.notify').say('nothing is running')
  end
  for _, client in ipairs(clients) do
    stop(client, all)
  end
end

return M
