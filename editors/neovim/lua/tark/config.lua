---The options of `setup`, and their defaults.
local similar = require('tark.similar')

local M = {}

---@class tark.Config
---@field cmd? string[] how to start the server; nil: the program that installed the plugin, else `tark-lsp` in PATH
---@field autostart boolean start the server with the first file
---@field root_markers? (string|string[])[] the workspace is the nearest folder above that contains one of them, as in
---`vim.fs.root()`; nil: the markers of `vim.lsp.config`, else .git, .hg, .jj, .svn and .tark
---@field settings table settings of the server (docs/protocol.md): { model = 'openai/gpt-6.1-sol' }
---@field keymaps boolean map the documented keys, not only `<Plug>` ones
---@field border? string|string[] border of floats, as in nvim_open_win(); nil: 'winborder', else rounded
---@field chat tark.ChatConfig
---@field permission tark.PermissionConfig

---@class tark.ChatConfig
---@field position 'right'|'left'|'bottom'|'float'
---@field size number a share of the screen, 0 to 1
---@field prompt_lines integer the prompt's height before it grows
---@field start_insert boolean `:TarkChat` starts insert mode if the prompt is empty
---@field autocomplete boolean offer mentions and commands when the user types @ and / in the prompt
---@field opens_for table<string, boolean> kinds of turns that open the chat, without moving the focus

---@class tark.PermissionConfig
---@field max_lines integer height of the float; longer text is scrolled

---@type tark.Config
M.defaults = {
  cmd = nil,
  autostart = true,
  root_markers = nil,
  settings = {},
  keymaps = false,
  border = nil,
  chat = {
    position = 'right',
    size = 0.4,
    prompt_lines = 3,
    start_insert = true,
    autocomplete = true,
    opens_for = { agent = true, ask = true, explain = true },
  },
  permission = { max_lines = 20 },
}

local OPTIONAL = { cmd = true, root_markers = true, border = true }

---@param value any
---@param lowest number
---@param highest number
local function between(value, lowest, highest)
  return type(value) == 'number' and value >= lowest and value <= highest
end

---@param value any
---@param of string the type of its members
local function is_list(value, of)
  return vim.islist(value) and #value > 0 and vim.iter(value):all(function(item)
    return type(item) == of
  end)
end

---A description and a check of values whose default's type does not say enough.
---@type table<string, { [1]: string, [2]: fun(value: any): boolean }>
local RULES = {
  cmd = {
    'a list of strings, { "tark-lsp" }',
    function(value)
      return is_list(value, 'string')
    end,
  },
  root_markers = {
    'a list of names, { ".git" }',
    function(value)
      return vim.islist(value)
    end,
  },
  ['chat.position'] = {
    "'right', 'left', 'bottom' or 'float'",
    function(value)
      return vim.list_contains({ 'right', 'left', 'bottom', 'float' }, value)
    end,
  },
  ['chat.size'] = {
    'a number above 0 and at most 1',
    function(value)
      return between(value, 0.01, 1)
    end,
  },
  ['chat.prompt_lines'] = {
    'a number, at least 1',
    function(value)
      return between(value, 1, 1000)
    end,
  },
  border = {
    'a border of nvim_open_win()',
    function(value)
      return type(value) == 'string' or vim.islist(value)
    end,
  },
  ['permission.max_lines'] = {
    'a number, at least 1',
    function(value)
      return between(value, 1, 1000)
    end,
  },
}

---Options whose keys are not checked: settings of the server, and kinds of turns.
local OPEN = { settings = true, ['chat.opens_for'] = true }

---@param name string
---@param value any
---@param default any
---@return string? problem
local function problem_of(name, value, default)
  local rule = RULES[name]
  local description = rule and rule[1] or 'a ' .. type(default)
  if not (rule and rule[2](value) or not rule and type(value) == type(default)) then
    return ('%s must be %s, not %s'):format(name, description, vim.inspect(value, { newline = ' ', indent = '' }))
  end
end

---@param defaults table
---@param options table
---@param path string 'chat.', or '' at the top level
---@param problems string[] new ones are appended
---@return table
local function merged(defaults, options, path, problems)
  local result = vim.deepcopy(defaults)
  local names = vim.tbl_keys(defaults)
  if path == '' then
    vim.list_extend(names, vim.tbl_keys(OPTIONAL))
  end
  for key, value in vim.spairs(options) do
    local name, default = path .. tostring(key), defaults[key]
    if default == nil and not vim.list_contains(names, key) then
      local name_meant = similar.most_similar(tostring(key), names)[1]
      table.insert(
        problems,
        ('there is no option %s%s'):format(name, name_meant and (': is it %s%s?'):format(path, name_meant) or '')
      )
    else
      local problem = problem_of(name, value, default)
      if problem then
        table.insert(problems, problem)
      elseif OPEN[name] then
        result[key] = vim.tbl_deep_extend('force', default, value)
      elseif type(default) == 'table' and not RULES[name] then
        result[key] = merged(default, value, name .. '.', problems)
      else
        result[key] = value
      end
    end
  end
  return result
end

local current = M.defaults ---@type tark.Config

---@return tark.Config
function M.get()
  return current
end

---@param options? table
---@return string[] problems of options that are not valid, and stay at their defaults
function M.set(options)
  local problems = {}
  if options ~= nil and type(options) ~= 'table' then
    problems, options = { 'setup takes a table' }, nil
  end
  current = merged(M.defaults, options or {}, '', problems)
  if package.loaded['vim.lsp'] then
    vim.lsp.config('tark', {}) -- it remembers lsp/tark.lua with the former options
  end
  return problems
end

return M
