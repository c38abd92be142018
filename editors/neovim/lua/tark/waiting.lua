---What waits for the person, permissions and questions alike: it is answered once, and dropped when it is no more.
---A request of the server is answered by the coroutine of its handler, which sleeps until then.
local server = require('tark.server')
local state = require('tark.state')

local M = {}

local CANCELLED = vim.lsp.protocol.ErrorCodes.RequestCancelled
local ANSWERED_BY = { permissions = 'tark.permission.answer', inputs = 'tark.input.answer' }

---@class tark.Waiting
---@field kind 'permissions'|'inputs'
---@field request tark.Permission|tark.Input
---@field client_id integer

local threads = {} ---@type table<integer, table<string, thread>> by client and request id

state.on('server', function(ended, event)
  if event == 'ended' then
    threads[ended.client_id] = nil
  end
end)

---@return tark.Waiting[] of all servers, permissions first, the oldest first
function M.all()
  local all, states = {}, state.all()
  table.sort(states, function(one, other)
    return one.client_id < other.client_id
  end)
  for _, kind in ipairs({ 'permissions', 'inputs' }) do
    for _, known in ipairs(states) do
      for _, request in ipairs(known[kind]) do
        table.insert(all, { kind = kind, request = request, client_id = known.client_id })
      end
    end
  end
  return all
end

---@param request_id? string
---@return tark.Waiting? nil: it does not wait any more
function M.find(request_id)
  for _, each in ipairs(M.all()) do
    if each.request.requestId == request_id then
      return each
    end
  end
end

---@param waiting tark.Waiting
---@return string id of what is shown: a request whose hunks were edited is another one
function M.version(waiting)
  return waiting.request.requestId .. (waiting.request.digest or '')
end

---@param client_id integer
---@param request_id string
---@param answer any
---@param problem? lsp.ResponseError
---@return boolean sent false: it did not come as a request, or that is answered
local function reply(client_id, request_id, answer, problem)
  local thread = threads[client_id] and threads[client_id][request_id]
  if not thread then
    return false
  end
  threads[client_id][request_id] = nil
  local ok, fault = coroutine.resume(thread, answer, problem)
  if not ok then
    require('tark.notify').bug(debug.traceback(thread, fault))
  end
  return true
end

---@param client_id integer
---@param request_id string
local function take_back(client_id, request_id)
  reply(client_id, request_id, nil, { code = CANCELLED, message = 'taken back' })
end

---The server waits for no answer to what is not in the state any more.
---@param known tark.State
local function release(known)
  for id in pairs(threads[known.client_id] or {}) do
    if not M.find(id) then
      take_back(known.client_id, id)
    end
  end
end

for _, event in ipairs({ 'permission', 'input' }) do
  state.on(event, release)
end

---The handler of a request: returns when the person has answered it, or it is no more.
---@param kind 'permissions'|'inputs'
---@param request tark.Permission|tark.Input
---@param client_id integer
---@return any answer
---@return lsp.ResponseError? problem
function M.ask(kind, request, client_id)
  take_back(client_id, request.requestId) -- asked anew, with another digest
  threads[client_id] = threads[client_id] or {}
  threads[client_id][request.requestId] = coroutine.running()
  require('tark.updates').waits(state.of(client_id), kind, request)
  return coroutine.yield()
end

---What the person decided goes to the server, once.
---@param waiting tark.Waiting
---@param answer table as in docs/protocol.md
---@param words? string what the person wrote in it: kept where it is not taken
function M.answer(waiting, answer, words)
  if words then
    vim.fn.histadd('input', words) -- the server may end before it has read them
  end
  local id = waiting.request.requestId
  if not M.find(id) then
    return
  end
  if not reply(waiting.client_id, id, answer) then
    local client = vim.lsp.get_client_by_id(waiting.client_id)
    local argument = vim.tbl_extend('error', answer, { requestId = id, digest = waiting.request.digest })
    if not client and words then
      require('tark.input.kept').keep(words, 'the server has ended')
    elseif client then
      server.command(client, ANSWERED_BY[waiting.kind], argument, function(problem, answered)
        local refusal = problem or not answered.accepted and 'that was answered already'
        if refusal and words then
          require('tark.input.kept').keep(words, refusal)
        elseif refusal then
          require('tark.notify').warn(refusal)
        end
      end)
    end
  end
  require('tark.updates').keep_waiting(state.of(waiting.client_id), waiting.kind, function(each)
    return each.requestId ~= id
  end)
end

---Hunks of a request can be decided one by one: it says which are still asked about.
---@param known tark.State
---@param told tark.Hunk[]
function M.hunks_told(known, told)
  if #known.permissions == 0 then
    return
  end
  local states = {} ---@type table<string, string>
  for _, hunk in ipairs(told) do
    states[hunk.hunkId] = hunk.state
  end
  for _, request in ipairs(known.permissions) do
    for _, document in ipairs(request.edits or {}) do
      for _, hunk in ipairs(document.hunks) do
        hunk.state = states[hunk.hunkId] or hunk.state
      end
    end
  end
end

---The server took a request back, without saying which: what it does not know any more is dropped.
---@param client_id integer
function M.taken_back(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return
  end
  server.command(client, 'tark.state', nil, function(problem, answer)
    if problem then
      return
    end
    for kind in pairs(ANSWERED_BY) do
      local known = {}
      for _, each in ipairs(answer[kind] or {}) do
        known[each.requestId] = true
      end
      require('tark.updates').keep_waiting(state.of(client_id), kind, function(request)
        return known[request.requestId]
      end)
    end
  end)
end

return M
