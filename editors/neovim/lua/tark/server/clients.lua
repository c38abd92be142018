---Finds the language client that belongs to a buffer, and the workspace folder for a new one.
local config = require('tark.config')
local notify = require('tark.notify')
local workspace = require('tark.workspace')

local M = {}

M.NAME = 'tark'

---@param bufnr? integer of a file; nil: the folder for the working directory
---@return string?
function M.root(bufnr)
  local markers = config.get().root_markers or (vim.lsp.config[M.NAME] or {}).root_markers
  return workspace.root(bufnr, markers)
end

---Finds the folder with `root_dir` of vim.lsp.config. If that is a function of the user, `done` can be called late, or
---never if the user wants no server.
---@param file? integer
---@param done fun(root?: string)
function M.find_root(file, done)
  local root = (vim.lsp.config[M.NAME] or {}).root_dir
  if type(root) == 'function' and file then
    local ok, traceback = xpcall(root, debug.traceback, file, done)
    if not ok then
      notify.internal_error(traceback)
    end
  else
    done(type(root) == 'string' and root or M.root(file))
  end
end

---@param filter table as of vim.lsp.get_clients()
---@return vim.lsp.Client?
function M.find_running(filter)
  filter.name = M.NAME
  for _, client in ipairs(vim.lsp.get_clients(filter)) do
    if client.initialized and not client:is_stopped() and (not filter.root or client.root_dir == filter.root[1]) then
      return client
    end
  end
end

---The running client for a buffer. If the buffer is not a file (chat, quickfix): for the file the user came from.
---@param bufnr? integer 0 or nil: the current one
---@return vim.lsp.Client?
function M.for_buffer(bufnr)
  local file = workspace.file_buffer(bufnr)
  local found = file and M.find_running({ bufnr = file })
  if not found then
    M.find_root(file, function(root)
      found = M.find_running({ root = { root } })
    end)
  end
  if not found and not file then
    local all = vim.lsp.get_clients({ name = M.NAME })
    found = #all == 1 and not all[1]:is_stopped() and all[1] or nil
  end
  return found
end

---@param client_id integer
---@return vim.lsp.Client? client nil: it does not run
function M.by_id(client_id)
  return M.find_running({ id = client_id })
end

return M
