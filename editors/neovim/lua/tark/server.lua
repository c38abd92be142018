---The language server: started, and spoken to.
local config = require('tark.config')
local exchange = require('tark.exchange')
local notify = require('tark.notify')
local process = require('tark.process')
local protocol = require('tark.protocol')
local state = require('tark.state')
local workspace = require('tark.workspace')

local M = {}

local NAME = 'tark'
local SLOW_MS = 15000
local ROOT_MS = 3000

M.start_failed = false -- the last one; files that are opened do not try it again

local starting = {} ---@type table<integer, function[]> by client id: who waits for its start
local begun = {} ---@type table<integer, true> client ids of which `M.started` has been called

---What `lsp/tark.lua` gives to vim.lsp.config, where the person can add to it.
---@return vim.lsp.Config
function M.client_config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = vim.tbl_extend('force', capabilities.experimental or {}, { tark = protocol.CAPABILITIES })
  local settings = config.get().settings
  return {
    name = NAME,
    cmd = process.start,
    root_dir = function(bufnr, on_dir)
      on_dir(M.root(bufnr))
    end,
    capabilities = capabilities,
    init_options = next(settings) and settings or nil,
    handlers = require('tark.handlers'),
    on_init = M.started,
    on_exit = M.exited,
  }
end

---@param bufnr? integer of a file; nil: of the working directory
---@return string?
function M.root(bufnr)
  local markers = config.get().root_markers or (vim.lsp.config[NAME] or {}).root_markers
  return workspace.root(bufnr, markers)
end

---As vim.lsp.config has it: by a function of the person's, it may come late, or never where they want no server.
---@param file? integer
---@param done fun(root?: string)
local function find_root(file, done)
  local root = (vim.lsp.config[NAME] or {}).root_dir
  if type(root) == 'function' and file then
    local ok, traceback = xpcall(root, debug.traceback, file, done)
    if not ok then
      require('tark.notify').bug(traceback)
    end
  else
    done(type(root) == 'string' and root or M.root(file))
  end
end

---@param filter table as of vim.lsp.get_clients()
---@return vim.lsp.Client?
local function running(filter)
  filter.name = NAME
  for _, client in ipairs(vim.lsp.get_clients(filter)) do
    if client.initialized and not client:is_stopped() and (not filter.root or client.root_dir == filter.root[1]) then
      return client
    end
  end
end

---The running client for a buffer; for one that is no file (chat, quickfix) that of the file the person came from.
---@param bufnr? integer 0 or nil: the current one
---@return vim.lsp.Client?
function M.client(bufnr)
  local file = workspace.file_buffer(bufnr)
  local found = file and running({ bufnr = file })
  if not found then
    find_root(file, function(root)
      found = running({ root = { root } })
    end)
  end
  if not found and not file then
    local all = vim.lsp.get_clients({ name = NAME })
    found = #all == 1 and not all[1]:is_stopped() and all[1] or nil
  end
  return found
end

---The running client of a state.
---@param known tark.State
---@return vim.lsp.Client?
function M.of(known)
  return running({ id = known.client_id })
end

---@param config_of_client vim.lsp.Config
---@param name 'on_init'|'on_exit'
local function keep_ours(config_of_client, name, ours)
  local theirs = config_of_client[name]
  if theirs ~= ours then
    config_of_client[name] = vim.list_extend({ ours }, type(theirs) == 'table' and theirs or { theirs })
  end
end

---@param root? string
---@param buffers integer[] to be attached
---@param done fun(problem?: string, client?: vim.lsp.Client)
function M.start(root, buffers, done)
  local settings = vim.tbl_extend('force', vim.lsp.config[NAME] or M.client_config(), { name = NAME })
  settings.root_dir = root
  if type(settings.cmd) == 'table' then
    local cmd = settings.cmd --[[@as string[] ]]
    if vim.fn.executable(cmd[1]) == 0 then
      return done(("cmd of vim.lsp.config('tark') is %s, which is no program that can be run"):format(cmd[1]))
    end
    settings.cmd = process.rpc(cmd)
  elseif settings.cmd == process.start then
    local found, problem = process.find()
    if not found then
      return done(problem)
    end
  end
  keep_ours(settings, 'on_init', M.started)
  keep_ours(settings, 'on_exit', M.exited)
  local id = vim.lsp.start(settings, { attach = false, silent = true })
  local client = id and vim.lsp.get_client_by_id(id)
  if not client then
    return done('the server could not be started: :checkhealth tark')
  end
  for _, bufnr in ipairs(buffers) do
    if vim.api.nvim_buf_is_valid(bufnr) and vim.api.nvim_buf_is_loaded(bufnr) then
      vim.lsp.buf_attach_client(bufnr, client.id)
    end
  end
  if client.initialized then
    return done(nil, client)
  end
  starting[client.id] = starting[client.id] or {}
  table.insert(starting[client.id], done)
  vim.defer_fn(function()
    if starting[client.id] then
      notify.warn('the server has not answered yet, for 15 s: is it a tark-lsp? (:checkhealth tark)')
    end
  end, SLOW_MS)
end

---Start the server for a buffer if there is none.
---@param bufnr? integer 0 or nil: the current one
---@param done fun(problem?: string, client?: vim.lsp.Client) once it answers
function M.ensure(bufnr, done)
  local file = workspace.file_buffer(bufnr)
  local client
  if file then
    client = running({ bufnr = file })
  else
    client = M.client(bufnr)
  end
  if client and starting[client.id] then -- it answers those first who asked first
    table.insert(starting[client.id], done)
    return
  elseif client then
    return done(nil, client)
  end
  local answered = false
  find_root(file, function(root)
    if not answered then
      answered = true
      M.start(root, { file }, done)
    end
  end)
  vim.defer_fn(function()
    if not answered then
      answered = true
      done("root_dir of vim.lsp.config('tark') wants no server for this file")
    end
  end, ROOT_MS)
end

---`on_init` of a client.
---@param client vim.lsp.Client
---@param result lsp.InitializeResult
function M.started(client, result)
  begun[client.id] = true
  M.start_failed = false
  protocol.check(result)
  local known = state.begin(client.id, client.root_dir)
  require('tark.views').load()
  -- Its documents are opened right after this, and what is asked is about them.
  vim.schedule(function()
    local waiting = starting[client.id] or {}
    starting[client.id] = nil
    state.emit('server', known, 'started')
    M.refresh(known)
    for _, done in ipairs(waiting) do
      done(nil, client)
    end
  end)
end

---`on_exit` of a client, in a fast event.
---@param code integer
---@param signal integer
---@param client_id integer
function M.exited(code, signal, client_id)
  local client = assert(vim.lsp.get_client_by_id(client_id))
  local buffers = vim.tbl_keys(client.attached_buffers)
  -- Neovim clears up after the client in what it schedules next; only then may another one be started.
  vim.schedule(function()
    vim.schedule(function()
      if vim.v.exiting ~= vim.NIL then
        return
      end
      local ending = process.ending(client, code, signal)
      local waiting = starting[client_id]
      starting[client_id], begun[client_id] = nil, nil
      exchange.ended(client_id)
      if client.initialized then
        return require('tark.restart').ended(client, ending, buffers)
      end
      M.start_failed = true
      for _, done in ipairs(waiting or { notify.warn }) do
        done(('the server ended at its start: %s (:checkhealth tark)'):format(ending.words))
      end
    end)
  end)
end

---Ask the server how things stand, so that views draw anew.
---@param known tark.State
function M.refresh(known)
  local client = M.of(known)
  if not client then
    return
  end
  M.command(client, 'tark.state', nil, function(_, answer)
    if answer then
      require('tark.updates').refreshed(known, answer)
    end
  end)
  M.command(client, 'tark.hunk.list', nil, function(_, answer)
    if answer then
      require('tark.updates').all_hunks(known, answer.hunks)
    end
  end)
end

M.command = exchange.command

---A command whose answer a person waits for: a server is started if need be, and a problem is told.
---@param command string of docs/protocol.md
---@param argument table|fun(known: tark.State): table
---@param done fun(answer: any, known: tark.State, client: vim.lsp.Client)
function M.ask(command, argument, done)
  M.ensure(nil, function(problem, client)
    if not client then
      return notify.warn(problem or 'there is no server')
    end
    local known = state.of(client.id)
    local given = type(argument) == 'function' and argument(known) or argument --[[@as table]]
    M.command(client, command, given, function(refusal, answer)
      if refusal then
        return notify.warn(refusal)
      end
      done(answer, known, client)
    end)
  end)
end

---A client that vim.lsp.enable started, with callbacks of the person's own in place of ours.
---@param client vim.lsp.Client
local function adopt(client)
  local exits = client._on_exit_cbs ---@diagnostic disable-line:invisible
  if exits and not vim.list_contains(exits, M.exited) then
    table.insert(exits, 1, M.exited)
  end
  M.started(client, { capabilities = client.server_capabilities, serverInfo = client.server_info })
end

vim.api.nvim_create_autocmd('LspAttach', {
  group = vim.api.nvim_create_augroup('tark_server', {}),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == NAME then
      if not begun[client.id] then
        adopt(client)
      end
      state.emit('attach', state.of(client.id), event.buf)
    end
  end,
})

return M
