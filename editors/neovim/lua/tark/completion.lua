---What is completed on the command line: from what is known, since a person's key never waits for an answer.
local M = {}

local KINDS = { '/ask', '/document', '/edit', '/explain', '/fix', '/test' }

---What was answered once, by state.
local models = setmetatable({}, { __mode = 'k' }) ---@type table<tark.State, string[]>
local providers = setmetatable({}, { __mode = 'k' }) ---@type table<tark.State, string[]>

---@param known tark.State
---@param found { id: string }[]
function M.keep_models(known, found)
  models[known] = vim.tbl_map(function(model)
    return model.id
  end, found)
end

---@param known tark.State
---@param found { provider: string }[]
function M.keep_providers(known, found)
  providers[known] = vim.tbl_map(function(each)
    return each.provider
  end, found)
end

---@return vim.lsp.Client?
---@return tark.State?
local function current()
  local client = require('tark.server').client()
  return client, client and require('tark.state').of(client.id)
end

---Those that are kept; without any they are asked for, and there the next time.
---@param kept table<tark.State, string[]>
---@param command string
---@param keep fun(known: tark.State, answer: table)
---@return string[]
local function kept_or_asked(kept, command, keep)
  local client, known = current()
  if not client or not known then
    return {}
  end
  if not kept[known] then
    require('tark.server').command(client, command, nil, function(problem, answer)
      if not problem then
        keep(known, answer)
      end
    end)
  end
  return kept[known] or {}
end

---@param found string[]
---@param lead string
---@return string[]
local function matching(found, lead)
  return lead == '' and found or vim.fn.matchfuzzy(found, lead)
end

---@param lead string
---@return string[]
local function prompts(lead)
  local _, known = current()
  local found = vim.list_slice(KINDS)
  for _, prompt in ipairs(known and known.prompts or {}) do
    table.insert(found, '/' .. prompt.name)
  end
  table.sort(found)
  return matching(found, lead)
end

local function levels()
  return vim.tbl_map(function(level)
    return level.name
  end, require('tark.pickers.settings').levels)
end

local function session_actions()
  local names = vim.tbl_keys(require('tark.pickers.sessions').actions)
  table.insert(names, 'new')
  table.sort(names)
  return names
end

---@type table<string, fun(): string[]>
local OF_COMMANDS = {
  TarkSessions = session_actions,
  TarkMode = levels,
  TarkModel = function()
    return kept_or_asked(models, 'tark.models.list', function(known, answer)
      M.keep_models(known, answer.models)
    end)
  end,
  TarkLogin = function()
    return kept_or_asked(providers, 'tark.auth.status', function(known, answer)
      M.keep_providers(known, answer.providers)
    end)
  end,
}

---@param name string of the command
---@param lead string the word before the cursor
---@param line string all of the command line
---@return string[]
function M.of_command(name, lead, line)
  if OF_COMMANDS[name] then
    return matching(OF_COMMANDS[name](), lead)
  end
  local words = line:match(name .. '!?%s+(.*)') or ''
  return vim.startswith(words, '/') and words == lead and prompts(lead) or {}
end

---For vim.ui.input: a prompt may begin with the name of another one.
---@param lead string
---@param line string
---@return string[]
function M.of_prompt(lead, line)
  return vim.startswith(lead, '/') and vim.startswith(line, lead) and prompts(lead) or {}
end

return M
