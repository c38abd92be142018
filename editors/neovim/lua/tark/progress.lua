---What runs: turns by what the server tells of them, and work-done progress by the editor's own events. And its end.
local state = require('tark.state')

local M = {}

---@class tark.RunningTurn
---@field turnId string
---@field sessionId string
---@field queued boolean
---@field began integer milliseconds, of vim.uv.now()

---@class tark.Token one work-done progress
---@field title string
---@field message string what it said last

---@class tark.Running
---@field turns table<string, tark.RunningTurn> by turn id
---@field tokens table<string|integer, tark.Token>
---@field latest? tark.Token the one that said something last

local running = {} ---@type table<tark.State, tark.Running>
local listeners = {} ---@type fun()[]

---@param known tark.State
---@return tark.Running
function M.of(known)
  running[known] = running[known] or { turns = {}, tokens = {} }
  return running[known]
end

---@return table<tark.State, tark.Running>
function M.all()
  return running
end

---@param listener fun() called when something began, went on or ended
function M.on_change(listener)
  table.insert(listeners, listener)
end

local function changed()
  for _, listener in ipairs(listeners) do
    listener()
  end
end

---The server took a turn.
---@param known tark.State
---@param turn { sessionId: string, turnId: string, queued?: integer }
function M.started(known, turn)
  M.of(known).turns[turn.turnId] = {
    turnId = turn.turnId,
    sessionId = turn.sessionId,
    queued = turn.queued ~= nil,
    began = vim.uv.now(),
  }
  changed()
end

state.on('update', function(known, params)
  local kind = params.update.kind
  if kind == 'start' then
    M.started(known, params)
  elseif kind == 'end' then
    M.of(known).turns[params.turnId] = nil
    changed()
  end
end)

state.on('server', function(known)
  running[known] = nil
  changed()
end)

---@param known tark.State
---@param token string|integer
---@param value { kind: string, title?: string, message?: string }
local function reported(known, token, value)
  local of = M.of(known)
  if value.kind == 'end' then
    of.latest = of.latest ~= of.tokens[token] and of.latest or nil
    of.tokens[token] = nil
  else
    of.tokens[token] = of.tokens[token] or { title = '', message = '' }
    of.latest = of.tokens[token]
    of.latest.title = value.title or of.latest.title
    of.latest.message = value.message or of.latest.message
  end
  changed()
end

vim.api.nvim_create_autocmd('LspProgress', {
  group = vim.api.nvim_create_augroup('tark_progress', {}),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'tark' then
      reported(state.of(client.id), event.data.params.token, event.data.params.value)
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
  local elsewhere = vim.tbl_count(M.of(known).turns)
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
  local which = all and vim.empty_dict() or { sessionId = known.session_id }
  server.command(client, 'tark.turn.cancel', which, function(problem, answer)
    if problem then
      return notify.warn(problem)
    end
    local cancelled = #answer.cancelled
    notify.say(cancelled > 0 and ('cancelled %s'):format(turns(cancelled)) or nothing_runs(known))
    for token in pairs(all and M.of(known).tokens or {}) do
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
