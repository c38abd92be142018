---Commands to a server, and their answers, which come even where the server ends before it answers.
local notify = require('tark.notify')

local M = {}

local ENDED = 'the server has ended'
local UNKNOWN = 'the server does not know %s: is it up to date? (:checkhealth tark)'

local unanswered = {} ---@type table<integer, table<function, true>> by client id: who waits for an answer

---@param client vim.lsp.Client
---@param command string
local function knows(client, command)
  local provider = client.server_capabilities.executeCommandProvider
  return type(provider) == 'table' and vim.list_contains(provider.commands or {}, command)
end

---JSON is UTF-8; the server could not read, and so not answer, what is not: each such byte becomes a `?`.
---@param text string
---@return string
local function in_utf_8(text)
  local found, position = {}, 1
  while position <= #text do
    local last = position + vim.str_utf_end(text, position)
    local character = text:sub(position, last)
    -- Neovim takes surrogates for characters, and what is beyond Unicode.
    local is_none = #character == 1 and character:byte() > 127 or character:match('^\237[\160-\191]')
    local is_beyond = character:match('^\244[\144-\191]') or character:match('^[\245-\255]')
    table.insert(found, (is_none or is_beyond) and '?' or character)
    position = last + 1
  end
  return table.concat(found)
end

---@generic T
---@param value T
---@return T
local function readable(value)
  if type(value) == 'string' and value:find('[\128-\255]') then
    return in_utf_8(value)
  elseif type(value) == 'table' and next(value) then
    return vim.tbl_map(readable, value)
  end
  return value
end

---One of the commands of docs/protocol.md. `done` is called once, later, and outside of fast events.
---@param client vim.lsp.Client
---@param command string 'tark.turn.start' and so on
---@param argument? table
---@param done? fun(problem?: string, answer?: any) without it a problem is told
function M.command(client, command, argument, done)
  done = done or function(problem)
    if problem then
      notify.warn(problem)
    end
  end
  local asked = unanswered[client.id] or {}
  unanswered[client.id] = asked
  local function answered(problem, answer)
    if asked[answered] then
      asked[answered] = nil
      local ok, traceback = xpcall(done, debug.traceback, problem, answer)
      if not ok then
        notify.bug(traceback)
      end
    end
  end
  asked[answered] = true
  local params =
    { command = command, arguments = { argument and next(argument) and readable(argument) or vim.empty_dict() } }
  local problem = client:is_stopped() and ENDED or not knows(client, command) and UNKNOWN:format(command)
  if not problem then
    local sent = client:request('workspace/executeCommand', params, function(failed, answer)
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

---The client is no more: what was asked of it is answered so.
---@param client_id integer
function M.ended(client_id)
  local asked = unanswered[client_id] or {}
  unanswered[client_id] = nil
  for _, answered in ipairs(vim.tbl_keys(asked)) do
    answered(ENDED)
  end
end

return M
