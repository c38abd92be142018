---`:checkhealth tark`: reports what works, what does not, and what to do about it. This is the only file that blocks
---until an answer comes.
local clients = require('tark.server.clients')
local config = require('tark.config')
local discovery = require('tark.server.discovery')
local protocol = require('tark.server.protocol')
local requests = require('tark.server.requests')
local state = require('tark.state')
local version = require('tark.version')
local visible = require('tark.visible')
local workspace = require('tark.workspace')

local M = {}

---`vim.health` for text of programs and files, which can contain any characters.
local health = setmetatable({}, {
  __index = function(_, name)
    return function(text, ...)
      vim.health[name](visible.line(text), ...)
    end
  end,
})
local ANSWER_MS = 10000
local PROGRAM_MS = 20000
local INSTALL = 'run `tark-lsp install neovim`, and restart Neovim'

local function check_neovim()
  health.start('tark: Neovim')
  local neovim_version = tostring(vim.version())
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok('Neovim ' .. neovim_version)
  else
    health.error('Neovim ' .. neovim_version .. ' is too old', 'install Neovim 0.11 or newer')
  end
  if
    pcall(vim.treesitter.language.add, 'markdown') and #vim.api.nvim_get_runtime_file('parser/markdown.*', false) > 0
  then
    health.ok('treesitter parser for Markdown: it highlights the chat')
  else
    health.warn(
      'no treesitter parser for Markdown: the chat has the simpler syntax highlighting',
      'install the parser `markdown`'
    )
  end
  local found = vim.api.nvim_get_runtime_file('lua/tark/version.lua', true)
  if #found > 1 then
    health.warn('the plugin is installed more than once: ' .. table.concat(found, ', '), 'remove all but one')
  end
  local configs = vim.api.nvim_get_runtime_file('lsp/tark.lua', true)
  if #configs > #found then
    local which = table.concat(configs, ', ')
    health.warn(
      'more than one lsp/tark.lua: ' .. which,
      "put your own settings into `vim.lsp.config('tark', {...})` instead"
    )
  end
end

---@param cmd string[]
---@param argument string
---@return vim.SystemCompleted? done nil: the program cannot be run
local function run_program(cmd, argument)
  local argv = vim.list_extend(vim.list_slice(cmd), { argument })
  local ok, done = pcall(function()
    return vim.system(argv, { text = true, timeout = PROGRAM_MS }):wait()
  end)
  return ok and done or nil
end

---@param cmd string[]
---@return string? version
---@return string output its last line
local function version_of(cmd)
  local done = run_program(cmd, '--version')
  if not done then
    return nil, 'it cannot be run'
  elseif done.code == 124 then
    return nil, 'no output within 20 s'
  end
  local output = vim.trim((done.stdout or '') .. (done.stderr or ''))
  return output:match('^tark%-lsp (%S+)'), output:match('[^\n]+$') or ('exit code %d, and no output'):format(done.code)
end

---Reports what `tark-lsp doctor` finds on this machine: keys, search, sandbox, settings.
---@param cmd string[]
local function report_doctor(cmd)
  local done = run_program(cmd, 'doctor')
  for line in (done and done.stdout or ''):gmatch('[^\n]+') do
    local mark, message = line:match('^(%S+)%s+(.*)$')
    if mark == 'ok' then
      health.ok(message)
    elseif mark == 'BAD' then
      health.error(message, message:match('^no model') and ':TarkLogin says how to provide a key' or nil)
    elseif mark == 'note' and message:match('^keys:') then
      health.warn(message, ':TarkLogin says how to provide one')
    elseif mark == 'note' then
      health.info(message)
    end
  end
end

local function check_program()
  health.start('tark: server')
  local root = clients.root(workspace.file_buffer())
  local cmd, source = discovery.find_program(root)
  local settings = vim.lsp.config.tark or {}
  if type(settings.cmd) == 'table' then
    local problem
    cmd, problem = discovery.resolve(settings.cmd --[[@as string[] ]], "cmd of vim.lsp.config('tark')", root)
    source = problem or "vim.lsp.config('tark')"
  end
  local installed = discovery.installed_command()
  if installed and vim.fn.executable(installed[1]) == 0 then
    health.warn(('the tark-lsp that installed the plugin does not exist any more: %s'):format(installed[1]), INSTALL)
  end
  if not cmd then
    return health.error(source, 'install it (docs/neovim.md), then run `tark-lsp install neovim`; or set cmd')
  end
  local where = ('`%s` (%s)'):format(table.concat(cmd, ' '), source)
  local found, output = version_of(cmd)
  if not found then
    health.error(('%s is not a tark-lsp: `--version` prints: %s'):format(where, output), 'set cmd, or install it again')
  elseif found ~= version then
    health.warn(('%s has version %s, this plugin %s'):format(where, found, version), INSTALL)
  else
    health.ok(('%s, version %s, the same as this plugin'):format(where, found))
  end
  if found then
    report_doctor(cmd)
  end
  if not config.get().autostart then
    health.info('it starts with the first command (autostart = false)')
  end
end

---@param client vim.lsp.Client
---@param command string
---@return table? answer
local function wait_for_answer(client, command)
  local answer, problem
  requests.send_command(client, command, nil, function(...)
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
  local protocol_version = vim.tbl_get(client.server_capabilities, 'experimental', 'tark', 'protocol')
  local info = client.server_info or {}
  local name = ('%s %s for %s'):format(
    info.name or '?',
    info.version or '?',
    client.root_dir or 'files without a folder'
  )
  if protocol_version ~= protocol.VERSION then
    local versions = { name, tostring(protocol_version), protocol.VERSION }
    return health.error(('%s speaks protocol %s, this plugin %d'):format(unpack(versions)), INSTALL)
  end
  health.ok(('%s is running, positions in %s'):format(name, client.offset_encoding))
  local doctor = wait_for_answer(client, 'tark.doctor')
  if not doctor then
    return
  end
  if doctor.model then
    health.ok(('model: %s, mode %s, approval %s'):format(doctor.model, doctor.policy.mode, doctor.policy.approval))
  end
  for _, missing in ipairs(doctor.missing) do
    health.info(('no %s: %s'):format(missing.capability, missing.instead))
  end
  for _, problem in ipairs(doctor.problems) do
    if problem:match('^no model') then
      health.error(problem, { 'tark-lsp login PROVIDER in a terminal, or :TarkLogin', ':TarkModel' })
    else
      health.warn(problem, 'see the settings in docs/protocol.md')
    end
  end
end

local function check_running()
  health.start('tark: running servers')
  local running = vim.tbl_filter(function(client)
    return not client:is_stopped()
  end, vim.lsp.get_clients({ name = 'tark' }))
  for _, client in ipairs(running) do
    check_client(client)
  end
  local down = 0
  for _, server_state in ipairs(state.all()) do
    if not server_state.alive then
      down = down + 1
      health.warn(('the server for %s has ended'):format(server_state.root or 'files without a folder'), ':TarkRestart')
    end
  end
  if #running + down == 0 then
    health.info('no server runs yet: it starts with the first file or command. Open a file, and check again')
  end
end

function M.check()
  check_neovim()
  check_program()
  check_running()
end

return M
