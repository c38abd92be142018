---Completes arguments on the command line from cached answers, so that a key press never waits for the server.
local clients = require('tark.server.clients')
local requests = require('tark.server.requests')
local state = require('tark.state')

local M = {}

local KINDS = { '/agent', '/ask', '/document', '/edit', '/explain', '/fix', '/init', '/review', '/test' }

-- The last answers, by state.
local models = setmetatable({}, { __mode = 'k' }) ---@type table<tark.State, string[]>
local agents = setmetatable({}, { __mode = 'k' }) ---@type table<tark.State, string[]>
local providers = setmetatable({}, { __mode = 'k' }) ---@type table<tark.State, string[]>

---@param server_state tark.State
---@param listed { id: string }[]
function M.cache_models(server_state, listed)
  models[server_state] = vim.tbl_map(function(model)
    return model.id
  end, listed)
end

---@param server_state tark.State
---@param listed { provider: string }[]
function M.cache_providers(server_state, listed)
  providers[server_state] = vim.tbl_map(function(provider)
    return provider.provider
  end, listed)
end

---@param server_state tark.State
---@param listed { name: string }[]
function M.cache_agents(server_state, listed)
  agents[server_state] = vim.tbl_map(function(agent)
    return agent.name
  end, listed)
end

---@return vim.lsp.Client?
---@return tark.State?
local function current()
  local client = clients.for_buffer()
  return client, client and state.of_client(client.id)
end

---The cached names. If there are none, requests them for the next time.
---@param cache table<tark.State, string[]>
---@param command string
---@param keep fun(server_state: tark.State, answer: table)
---@return string[]
local function cached_or_requested(cache, command, keep)
  local client, server_state = current()
  if not client or not server_state then
    return {}
  end
  if not cache[server_state] then
    requests.send_command(client, command, nil, function(problem, answer)
      if not problem then
        keep(server_state, answer)
      end
    end)
  end
  return cache[server_state] or {}
end

---@return string[]
function M.models()
  return cached_or_requested(models, 'tark.models.list', function(server_state, answer)
    M.cache_models(server_state, answer.models)
  end)
end

---@return string[]
function M.providers()
  return cached_or_requested(providers, 'tark.auth.status', function(server_state, answer)
    M.cache_providers(server_state, answer.providers)
  end)
end

---@return string[]
function M.agents()
  return cached_or_requested(agents, 'tark.agents.list', function(server_state, answer)
    M.cache_agents(server_state, answer.agents)
  end)
end

---@param names string[]
---@param lead string
---@return string[]
function M.matching(names, lead)
  return lead == '' and names or vim.fn.matchfuzzy(names, lead)
end

---@param lead string
---@return string[]
local function prompts(lead)
  local _, server_state = current()
  local names = vim.list_slice(KINDS)
  for _, prompt in ipairs(server_state and server_state.prompts or {}) do
    table.insert(names, '/' .. prompt.name)
  end
  table.sort(names)
  return M.matching(names, lead)
end

---Completes a prompt in vim.ui.input and on the command line, because it can begin with the name of a named prompt.
---@param lead string the word before the cursor
---@param line string all of the line
---@return string[]
function M.prompt_names(lead, line)
  return vim.startswith(lead, '/') and vim.startswith(line, lead) and prompts(lead) or {}
end

return M
