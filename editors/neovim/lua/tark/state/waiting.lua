---What waits for the user: permissions and questions. Each is answered once, or dropped when the server withdraws it.
---The coroutine of the request's handler sleeps until the user has answered, then answers the server.
local clients = require('tark.server.clients')
local handlers = require('tark.server.handlers')
local kept_text = require('tark.kept_text')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local state = require('tark.state')

local M = {}

local CANCELLED = vim.lsp.protocol.ErrorCodes.RequestCancelled
local EVENTS = { permissions = 'permission', inputs = 'input' }
local ANSWER_COMMANDS = { permissions = 'tark.permission.answer', inputs = 'tark.input.answer' }

---@class tark.WaitingRequest
---@field kind 'permissions'|'inputs'
---@field request tark.Permission|tark.Input
---@field client_id integer

local threads = {} ---@type table<integer, table<string, thread>> by client id and request id

---@return tark.WaitingRequest[] of all servers: permissions first, the oldest first
function M.all()
  local all, states = {}, state.all()
  table.sort(states, function(one, other)
    return one.client_id < other.client_id
  end)
  for _, kind in ipairs({ 'permissions', 'inputs' }) do
    for _, server_state in ipairs(states) do
      for _, request in ipairs(server_state[kind]) do
        table.insert(all, { kind = kind, request = request, client_id = server_state.client_id })
      end
    end
  end
  return all
end

---@param request_id? string
---@return tark.WaitingRequest? nil: it does not wait any more
function M.find_request(request_id)
  for _, entry in ipairs(M.all()) do
    if entry.request.requestId == request_id then
      return entry
    end
  end
end

---@param entry tark.WaitingRequest
---@return string id of the request's content, which changes if the user edits hunks of the request
function M.version(entry)
  return entry.request.requestId .. (entry.request.digest or '')
end

---@param client_id integer
---@param request_id string
---@param answer any
---@param problem? lsp.ResponseError
---@return boolean sent false: it did not come as a request, or was already answered
local function resume_handler(client_id, request_id, answer, problem)
  local thread = threads[client_id] and threads[client_id][request_id]
  if not thread then
    return false
  end
  threads[client_id][request_id] = nil
  local ok, fault = coroutine.resume(thread, answer, problem)
  if not ok then
    notify.internal_error(debug.traceback(thread, fault))
  end
  return true
end

---@param client_id integer
---@param request_id string
local function cancel_request(client_id, request_id)
  resume_handler(client_id, request_id, nil, { code = CANCELLED, message = 'taken back' })
end

---Ends the handlers of requests that are no longer in the state, because the server no longer waits for their answers.
---@param server_state tark.State
local function cancel_removed(server_state)
  for id in pairs(threads[server_state.client_id] or {}) do
    if not M.find_request(id) then
      cancel_request(server_state.client_id, id)
    end
  end
end

---Adds a request to the state, or replaces it if the server asks again.
---@param server_state tark.State
---@param kind 'permissions'|'inputs'
---@param request tark.Permission|tark.Input
function M.add_request(server_state, kind, request)
  local list, place = server_state[kind], nil
  for index, former in ipairs(list) do
    place = former.requestId == request.requestId and index or place
  end
  list[place or #list + 1] = request
  state.emit(EVENTS[kind], server_state)
end

---@param server_state tark.State
---@param kind 'permissions'|'inputs'
---@param still_waits fun(request: table): boolean
local function keep_requests(server_state, kind, still_waits)
  local left = vim.tbl_filter(still_waits, server_state[kind])
  if #left < #server_state[kind] then
    server_state[kind] = left
    state.emit(EVENTS[kind], server_state)
  end
end

---The handler of a request. It returns when the user has answered, or when the request is withdrawn.
---@param kind 'permissions'|'inputs'
---@return tark.Answer
local function ask(kind)
  return function(request, client_id)
    cancel_request(client_id, request.requestId) -- if it is asked again, with another digest
    threads[client_id] = threads[client_id] or {}
    threads[client_id][request.requestId] = coroutine.running()
    M.add_request(state.of_client(client_id), kind, request)
    return coroutine.yield()
  end
end

---Sends the answer as a command, for a request that came to this client in the answer of `tark.state`.
---@param entry tark.WaitingRequest
---@param answer table
---@param text? string
local function send_answer(entry, answer, text)
  local client = vim.lsp.get_client_by_id(entry.client_id)
  local request = entry.request
  local argument = vim.tbl_extend('error', answer, { requestId = request.requestId, digest = request.digest })
  if not client and text then
    kept_text.keep(text, 'the server has ended')
  elseif client then
    requests.send_command(client, ANSWER_COMMANDS[entry.kind], argument, function(problem, answered)
      local refusal = problem or not answered.accepted and 'that was answered already'
      if refusal and text then
        kept_text.keep(text, refusal)
      elseif refusal then
        notify.warn(refusal)
      end
    end)
  end
end

---Sends the user's decision to the server, once.
---@param entry tark.WaitingRequest
---@param answer table as in docs/protocol.md
---@param text? string what the user wrote: it is kept if the server refuses the answer
function M.answer(entry, answer, text)
  if text then
    vim.fn.histadd('input', text) -- the server could end before it reads the answer
  end
  local id = entry.request.requestId
  if not M.find_request(id) then
    return
  end
  if not resume_handler(entry.client_id, id, answer) then
    send_answer(entry, answer, text)
  end
  keep_requests(state.of_client(entry.client_id), entry.kind, function(request)
    return request.requestId ~= id
  end)
end

---`$/cancelRequest`. The notification does not say which request is withdrawn, so requests that the server no longer
---lists are dropped.
---@param client_id integer
local function drop_withdrawn(_, client_id)
  local client = clients.by_id(client_id)
  if not client then
    return
  end
  requests.send_command(client, 'tark.state', nil, function(problem, answer)
    if problem then
      return
    end
    for kind in pairs(ANSWER_COMMANDS) do
      local listed = {}
      for _, request in ipairs(answer[kind] or {}) do
        listed[request.requestId] = true
      end
      keep_requests(state.of_client(client_id), kind, function(request)
        return listed[request.requestId]
      end)
    end
  end)
end

handlers.register('tark/requestPermission', ask('permissions'))
handlers.register('tark/requestInput', ask('inputs'))
handlers.register('$/cancelRequest', drop_withdrawn)

state.on('permission', cancel_removed)
state.on('input', cancel_removed)
state.on('server', function(ended, event)
  if event == 'ended' then
    threads[ended.client_id] = nil
  end
end)

return M
