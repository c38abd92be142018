---Starts servers. Listeners are called when a server has started, when it knows a document, and when it has ended.
local clients = require('tark.server.clients')
local config = require('tark.config')
local discovery = require('tark.server.discovery')
local handlers = require('tark.server.handlers')
local listeners = require('tark.listeners')
local notify = require('tark.notify')
local process = require('tark.server.process')
local protocol = require('tark.server.protocol')
local requests = require('tark.server.requests')
local workspace = require('tark.workspace')

local M = {}

local NAME = clients.NAME
local SLOW_MS = 15000
local ROOT_MS = 3000
local SOON_MS = 100 -- if the server takes longer to start, the user is told

---@alias tark.ClientEvent
---| 'initialized' # (client) it answered; its documents are not open yet
---| 'started'     # (client) its documents are open
---| 'attached'    # (client, bufnr) it knows this document from now on
---| 'ended'       # (client, ending: tark.Ending, buffers: integer[]) it had started, and its process has ended

M.start_failed = false -- the last start failed; opening another file does not try again

local events = listeners.new()
local starting = {} ---@type table<integer, function[]> by client id: callbacks that wait for its start
local initialized = {} ---@type table<integer, true> client ids for which `on_init` was called

---@param event tark.ClientEvent
---@param listener function
function M.on(event, listener)
  events:on(event, listener)
end

---The configuration in `lsp/tark.lua`. The user can extend it with vim.lsp.config.
---@return vim.lsp.Config
function M.client_config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = vim.tbl_extend('force', capabilities.experimental or {}, { tark = protocol.CAPABILITIES })
  local settings = config.get().settings
  return {
    name = NAME,
    cmd = process.start,
    root_dir = function(bufnr, on_dir)
      on_dir(clients.root(bufnr))
    end,
    capabilities = capabilities,
    init_options = next(settings) and settings or nil,
    handlers = handlers.by_method,
    on_init = M.on_init,
    on_exit = M.on_exit,
  }
end

---Calls the plugin's callback even if the user's configuration replaced it.
---@param config_of_client vim.lsp.Config
---@param name 'on_init'|'on_exit'
local function add_callback(config_of_client, name, ours)
  local theirs = config_of_client[name]
  if theirs ~= ours then
    config_of_client[name] = vim.list_extend({ ours }, type(theirs) == 'table' and theirs or { theirs })
  end
end

---The client's configuration, with a `cmd` that can be run.
---@param root? string
---@return vim.lsp.ClientConfig?
---@return string? problem
local function runnable_config(root)
  local settings = vim.tbl_extend('force', vim.lsp.config[NAME], { name = NAME })
  settings.root_dir = root
  local found, problem = settings.cmd, nil
  if type(settings.cmd) == 'table' then
    found, problem = discovery.resolve(settings.cmd --[[@as string[] ]], "cmd of vim.lsp.config('tark')", root)
    settings.cmd = process.rpc(found)
  elseif settings.cmd == process.start then
    found, problem = discovery.find_program(root)
  end
  if not found then
    return nil, problem
  end
  add_callback(settings, 'on_init', M.on_init)
  add_callback(settings, 'on_exit', M.on_exit)
  return settings
end

---@param client vim.lsp.Client
---@param done fun(problem?: string, client?: vim.lsp.Client)
local function wait_for_start(client, done)
  starting[client.id] = starting[client.id] or {}
  table.insert(starting[client.id], done)
  vim.defer_fn(function()
    if starting[client.id] then
      notify.warn('the server has not answered for 15 s: is it a tark-lsp? (:checkhealth tark)')
    end
  end, SLOW_MS)
end

---@param root? string
---@param buffers integer[] to be attached
---@param done fun(problem?: string, client?: vim.lsp.Client)
function M.start_server(root, buffers, done)
  local settings, problem = runnable_config(root)
  if not settings then
    return done(problem)
  end
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
  wait_for_start(client, done)
end

---Tells the user why nothing happens yet, if the server cannot do something soon.
---@param done fun(problem?: string, client?: vim.lsp.Client)
---@return fun(problem?: string, client?: vim.lsp.Client) done
local function tell_of_start(done)
  local has_failed, found = false, nil ---@type boolean, vim.lsp.Client?
  vim.defer_fn(function()
    if not has_failed and not (found and requests.is_ready(found)) then
      notify.info('starting the server…')
    end
  end, SOON_MS)
  return function(problem, client)
    has_failed, found = problem ~= nil, client
    done(problem, client)
  end
end

---Starts the server for a buffer if none runs.
---@param bufnr? integer 0 or nil: the current one
---@param done fun(problem?: string, client?: vim.lsp.Client) called once the server answers
---@param is_quiet? boolean nobody waits for the server: show no message while it starts
function M.ensure_server(bufnr, done, is_quiet)
  local file = workspace.file_buffer(bufnr)
  local client
  if file then
    client = clients.find_running({ bufnr = file })
  else
    client = clients.for_buffer(bufnr)
  end
  if not is_quiet and not (client and requests.is_ready(client)) then
    done = tell_of_start(done)
  end
  if client and starting[client.id] then -- callbacks are called in the order in which they came
    table.insert(starting[client.id], done)
    return
  elseif client then
    return done(nil, client)
  end
  local answered = false
  clients.find_root(file, function(root)
    if not answered then
      answered = true
      M.start_server(root, { file }, done)
    end
  end)
  vim.defer_fn(function()
    if not answered then
      answered = true
      done("root_dir of vim.lsp.config('tark') starts no server for this file")
    end
  end, ROOT_MS)
end

---@param client vim.lsp.Client
---@param result lsp.InitializeResult
function M.on_init(client, result)
  initialized[client.id] = true
  M.start_failed = false
  protocol.check_version(result)
  events:emit('initialized', client)
  -- Neovim opens the documents right after this callback, and the plugin's requests need them.
  vim.schedule(function()
    local callbacks = starting[client.id] or {}
    starting[client.id] = nil
    events:emit('started', client)
    for _, done in ipairs(callbacks) do
      done(nil, client)
    end
  end)
end

---Called in a fast event.
---@param code integer
---@param signal integer
---@param client_id integer
function M.on_exit(code, signal, client_id)
  local client = assert(vim.lsp.get_client_by_id(client_id))
  local buffers = vim.tbl_keys(client.attached_buffers)
  -- Neovim removes the client in the next function that it schedules. Another client can be started only after that.
  vim.schedule(function()
    vim.schedule(function()
      if vim.v.exiting ~= vim.NIL then
        return
      end
      local ending = process.ending(client, code, signal)
      local callbacks = starting[client_id]
      starting[client_id], initialized[client_id] = nil, nil
      requests.fail_unanswered(client_id)
      if client.initialized then
        return events:emit('ended', client, ending, buffers)
      end
      M.start_failed = true
      for _, done in ipairs(callbacks or { notify.warn }) do
        done(('the server ended while it started: %s (:checkhealth tark)'):format(ending.reason))
      end
    end)
  end)
end

---Takes over a client that vim.lsp.enable started with the user's callbacks in place of the plugin's.
---@param client vim.lsp.Client
local function adopt(client)
  local exits = client._on_exit_cbs ---@diagnostic disable-line:invisible
  if exits and not vim.list_contains(exits, M.on_exit) then
    table.insert(exits, 1, M.on_exit)
  end
  M.on_init(client, { capabilities = client.server_capabilities, serverInfo = client.server_info })
end

vim.api.nvim_create_autocmd('LspAttach', {
  group = vim.api.nvim_create_augroup('tark_server', {}),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == NAME then
      if not initialized[client.id] then
        adopt(client)
      end
      events:emit('attached', client, event.buf)
    end
  end,
})

return M
