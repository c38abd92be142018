---The language server: found, started, spoken to.
local config = require('tark.config')
local notify = require('tark.notify')
local state = require('tark.state')

local M = {}

local NAME = 'tark'
local CAPABILITIES = {
  protocol = 1,
  userSettings = true,
  updates = true,
  permission = true,
  input = true,
  clientState = true,
  save = true,
  review = true,
}

---@return string[]? cmd
function M.find_cmd()
  local cmd = config.get().cmd or { 'tark-lsp' }
  return vim.fn.executable(cmd[1]) == 1 and cmd or nil
end

---What `lsp/tark.lua` gives to vim.lsp.config, where the person can add to it.
---@return vim.lsp.Config
function M.client_config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = vim.tbl_extend('force', capabilities.experimental or {}, { tark = CAPABILITIES })
  return {
    name = NAME,
    cmd = M.find_cmd() or { 'tark-lsp' },
    root_markers = config.get().root_markers,
    capabilities = capabilities,
    init_options = config.get().settings,
    handlers = require('tark.handlers'),
    on_init = function(client)
      state.emit('server', state.of(client.id), 'started')
    end,
    on_exit = function(_, _, client_id)
      vim.schedule(function()
        local ended = state.of(client_id)
        state.forget(client_id)
        state.emit('server', ended, 'ended')
      end)
    end,
  }
end

---The running client of a buffer, or the one of its folder.
---@param bufnr? integer 0 or nil: the current one
---@return vim.lsp.Client?
function M.client(bufnr)
  return vim.lsp.get_clients({ name = NAME, bufnr = bufnr or 0 })[1] or vim.lsp.get_clients({ name = NAME })[1]
end

---Start the server for a buffer if there is none.
---@param bufnr integer
---@param done fun(problem?: string, client?: vim.lsp.Client) once it answers
function M.ensure(bufnr, done)
  if not M.find_cmd() then
    return done('no tark-lsp was found: install it (uv tool install tark_lsp), or set cmd in require("tark").setup')
  end
  local settings = vim.lsp.config.tark
  local path = vim.api.nvim_buf_get_name(bufnr)
  local root = vim.fs.root(path ~= '' and bufnr or vim.fn.getcwd(), settings.root_markers) or vim.fn.getcwd()
  local id = vim.lsp.start(vim.tbl_extend('force', settings, { root_dir = root }), {
    bufnr = bufnr,
    attach = vim.bo[bufnr].buftype == '',
  })
  local client = id and vim.lsp.get_client_by_id(id)
  if not client then
    return done('the server could not be started: see :LspLog')
  end
  if client.initialized then
    return done(nil, client)
  end
  local stop
  stop = state.on('server', function(which, event)
    if which.client_id == id then
      stop()
      if event == 'started' then
        done(nil, client)
      else
        done('the server ended at its start: see :LspLog')
      end
    end
  end)
end

---One of the commands of docs/protocol.md. `done` is called outside of fast events.
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
  local params = { command = command, arguments = { argument or vim.empty_dict() } }
  local sent = client:request('workspace/executeCommand', params, function(problem, answer)
    done(problem and problem.message, answer)
  end)
  if not sent then
    done('the server has ended')
  end
end

return M
