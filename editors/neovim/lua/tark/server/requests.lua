---Sends commands to a server. Their callbacks are called even if the server ends before it answers.
local notify = require('tark.notify')

local M = {}

local ENDED = 'the server has ended'
local UNKNOWN = 'the server does not know %s: is it up to date? (:checkhealth tark)'

local has_answered = {} ---@type table<integer, true> ids of clients whose server has answered a command
local unanswered = {} ---@type table<integer, table<function, true>> by client id: callbacks that wait for an answer

---@param client vim.lsp.Client
---@param command string
local function knows(client, command)
  local provider = client.server_capabilities.executeCommandProvider
  return type(provider) == 'table' and vim.list_contains(provider.commands or {}, command)
end

---Replaces each byte that is not UTF-8 with `?`. JSON is UTF-8: the server could not read or answer other bytes.
---@param text string
---@return string
local function to_utf_8(text)
  local parts, position = {}, 1
  while position <= #text do
    local last = position + vim.str_utf_end(text, position)
    local character = text:sub(position, last)
    -- Neovim accepts surrogates and numbers beyond Unicode as characters.
    local is_invalid = #character == 1 and character:byte() > 127 or character:match('^\237[\160-\191]')
    local is_beyond = character:match('^\244[\144-\191]') or character:match('^[\245-\255]')
    table.insert(parts, (is_invalid or is_beyond) and '?' or character)
    position = last + 1
  end
  return table.concat(parts)
end

---@generic T
---@param value T
---@return T
local function with_valid_strings(value)
  if type(value) == 'string' and value:find('[\128-\255]') then
    return to_utf_8(value)
  elseif type(value) == 'table' and next(value) then
    return vim.tbl_map(with_valid_strings, value)
  end
  return value
end

---Sends one of the commands of docs/protocol.md. `done` is called once, later, and not in a fast event.
---@param client vim.lsp.Client
---@param command string for example 'tark.turn.start'
---@param argument? table
---@param done? fun(problem?: string, answer?: any) nil: a problem is shown to the user
function M.send_command(client, command, argument, done)
  done = done or function(problem)
    if problem then
      notify.warn(problem)
    end
  end
  local waiting = unanswered[client.id] or {}
  unanswered[client.id] = waiting
  local function answered(problem, answer)
    if waiting[answered] then
      waiting[answered] = nil
      local ok, traceback = xpcall(done, debug.traceback, problem, answer)
      if not ok then
        notify.internal_error(traceback)
      end
    end
  end
  waiting[answered] = true
  local valid = argument and next(argument) and with_valid_strings(argument) or vim.empty_dict()
  local params = { command = command, arguments = { valid } }
  local problem = client:is_stopped() and ENDED or not knows(client, command) and UNKNOWN:format(command)
  if not problem then
    local sent = client:request('workspace/executeCommand', params, function(failed, answer)
      has_answered[client.id] = true
      answered(failed and failed.message, answer)
    end)
    problem = not sent and ENDED
  end
  if problem then
    vim.schedule(function()
      answered(problem)
    end)
  end
end

---@param client vim.lsp.Client
---@return boolean is_ready the server has answered a command; it answers `initialize` long before it can do that
function M.is_ready(client)
  return has_answered[client.id] ~= nil
end

---Called when a client has ended: calls all callbacks that still wait for its answers, with that problem.
---@param client_id integer
function M.fail_unanswered(client_id)
  local waiting = unanswered[client_id] or {}
  unanswered[client_id], has_answered[client_id] = nil, nil
  for _, answered in ipairs(vim.tbl_keys(waiting)) do
    answered(ENDED)
  end
end

return M
