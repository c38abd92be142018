---`:checkhealth tark`: what works here, what does not, and what to do about it. The one place that waits for answers.
local config = require('tark.config')
local process = require('tark.process')
local protocol = require('tark.protocol')
local server = require('tark.server')
local state = require('tark.state')

local M = {}

local health = vim.health
local ANSWER_MS = 10000
local PROGRAM_MS = 20000
local INSTALL = 'run `tark-lsp install neovim`, and start Neovim anew'

local function check_neovim()
  health.start('tark: Neovim')
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok('Neovim ' .. version)
  else
    health.error('Neovim ' .. version .. ' is too old', 'install Neovim 0.11 or newer')
  end
  if
    pcall(vim.treesitter.language.add, 'markdown') and #vim.api.nvim_get_runtime_file('parser/markdown.*', false) > 0
  then
    health.ok('treesitter parser for Markdown: the chat is highlighted by it')
  else
    health.warn(
      'no treesitter parser for Markdown: the chat is highlighted by patterns',
      'install the parser `markdown`'
    )
  end
  local found = vim.api.nvim_get_runtime_file('lua/tark/version.lua', true)
  if #found > 1 then
    health.warn('the plugin is there more than once: ' .. table.concat(found, ', '), 'remove all but one')
  end
  local configs = vim.api.nvim_get_runtime_file('lsp/tark.lua', true)
  if #configs > #found then
    local which = table.concat(configs, ', ')
    health.warn('more than one lsp/tark.lua: ' .. which, "say what is yours by `vim.lsp.config('tark', {...})` instead")
  end
end

---@param cmd string[]
---@param argument string
---@return vim.SystemCompleted? done nil: it cannot be run
local function run(cmd, argument)
  local argv = vim.list_extend(vim.list_slice(cmd), { argument })
  local ok, done = pcall(function()
    return vim.system(argv, { text = true, timeout = PROGRAM_MS }):wait()
  end)
  return ok and done or nil
end

---@param cmd string[]
---@return string? version
---@return string what it said instead
local function version_of(cmd)
  local done = run(cmd, '--version')
  if not done then
    return nil, 'it cannot be run'
  elseif done.code == 124 then
    return nil, 'nothing within 20 s'
  end
  local said = vim.trim((done.stdout or '') .. (done.stderr or ''))
  return said:match('^tark%-lsp (%S+)'), said:match('[^\n]+$') or ('exit code %d, and no word'):format(done.code)
end

---What `tark-lsp doctor` finds on this machine: keys, search, sandbox, settings.
---@param cmd string[]
local function report_doctor(cmd)
  local done = run(cmd, 'doctor')
  for line in (done and done.stdout or ''):gmatch('[^\n]+') do
    local mark, said = line:match('^(%S+)%s+(.*)$')
    if mark == 'ok' then
      health.ok(said)
    elseif mark == 'BAD' then
      health.error(said)
    elseif mark == 'note' and said:match('^keys:') then
      health.warn(said, ':TarkLogin says how to give one')
    elseif mark == 'note' then
      health.info(said)
    end
  end
end

local function check_program()
  health.start('tark: server')
  local cmd, source = process.find()
  local settings = vim.lsp.config.tark or {}
  if type(settings.cmd) == 'table' then
    cmd, source =
      settings.cmd, --[[@as string[] ]]
      "vim.lsp.config('tark')"
  end
  local installed = process.installed()
  if installed and vim.fn.executable(installed[1]) == 0 then
    health.warn(('the tark-lsp that installed the plugin is gone: %s'):format(installed[1]), INSTALL)
  end
  if not cmd then
    return health.error(source, 'install it (docs/neovim.md), then run `tark-lsp install neovim`; or set cmd')
  end
  local where = ('`%s` (%s)'):format(table.concat(cmd, ' '), source)
  local version, said = version_of(cmd)
  local own = require('tark.version')
  if not version then
    health.error(('%s is no tark-lsp: `--version` says: %s'):format(where, said), 'set cmd, or install it anew')
  elseif version ~= own then
    health.warn(('%s has version %s, this plugin %s'):format(where, version, own), INSTALL)
  else
    health.ok(('%s, version %s, as this plugin'):format(where, version))
  end
  if version then
    report_doctor(cmd)
  end
  if not config.get().autostart then
    health.info('it starts with the first command (autostart = false)')
  end
end

---@param client vim.lsp.Client
---@param command string
---@return table? answer
local function ask(client, command)
  local answer, problem
  server.command(client, command, nil, function(...)
    problem, answer = ...
  end)
  vim.wait(ANSWER_MS, function()
    return problem ~= nil or answer ~= nil
  end, 20)
  if not answer then
    health.warn(('%s: %s'):format(command, problem or 'no answer within 10 s'), ':TarkRestart')
  end
  return answer
end

---@param client vim.lsp.Client
local function check_client(client)
  local spoken = vim.tbl_get(client.server_capabilities, 'experimental', 'tark', 'protocol')
  local info = client.server_info or {}
  local name = ('%s %s for %s'):format(
    info.name or '?',
    info.version or '?',
    client.root_dir or 'files without a folder'
  )
  if spoken ~= protocol.VERSION then
    local said = ('%s speaks protocol %s, this plugin %d'):format(name, tostring(spoken), protocol.VERSION)
    return health.error(said, INSTALL)
  end
  health.ok(('%s is running, positions in %s'):format(name, client.offset_encoding))
  local doctor = ask(client, 'tark.doctor')
  if not doctor then
    return
  end
  if doctor.model then
    health.ok(('model: %s, mode %s, approval %s'):format(doctor.model, doctor.policy.mode, doctor.policy.approval))
  else
    health.info('no model is set: the first provider with a key is asked about once (:TarkModel)')
  end
  for _, each in ipairs(doctor.missing) do
    health.info(('no %s: %s'):format(each.capability, each.instead))
  end
  for _, problem in ipairs(doctor.problems) do
    health.warn(problem, 'see the settings in docs/protocol.md')
  end
end

local function check_running()
  health.start('tark: running servers')
  local clients = vim.tbl_filter(function(client)
    return not client:is_stopped()
  end, vim.lsp.get_clients({ name = 'tark' }))
  for _, client in ipairs(clients) do
    check_client(client)
  end
  local down = 0
  for _, known in ipairs(state.all()) do
    if not known.alive then
      down = down + 1
      health.warn(('the server for %s has ended'):format(known.root or 'files without a folder'), ':TarkRestart')
    end
  end
  if #clients + down == 0 then
    health.info('none yet: it starts with the first file or command; open a file, and check again')
  end
end

function M.check()
  check_neovim()
  check_program()
  check_running()
end

return M
