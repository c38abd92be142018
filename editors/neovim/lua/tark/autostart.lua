---Starts the server with the first file, so that hunks and code actions are available before the first command.
local clients = require('tark.server.clients')
local config = require('tark.config')
local discovery = require('tark.server.discovery')
local file_stamps = require('tark.file_stamps')
local lifecycle = require('tark.server.lifecycle')
local notify = require('tark.notify')
local process = require('tark.server.process')
local workspace = require('tark.workspace')

local M = {}

---@param bufnr integer a buffer of a file that Neovim read, or that has a name from now on
function M.start(bufnr)
  if not config.get().autostart or lifecycle.start_failed or not workspace.is_file(bufnr) then
    return
  end
  local settings = vim.lsp.config.tark or {}
  local is_wanted = not settings.filetypes or vim.list_contains(settings.filetypes, vim.bo[bufnr].filetype)
  -- If the program is missing, commands and :checkhealth report it.
  local has_program = settings.cmd ~= process.start or discovery.find_program(clients.root(bufnr))
  if is_wanted and has_program and vim.api.nvim_buf_is_loaded(bufnr) then
    lifecycle.ensure_server(bufnr, function(problem)
      if problem then
        notify.warn(problem)
      end
    end, true)
  end
end

---@param bufnr integer a buffer that was just read
function M.file_opened(bufnr)
  file_stamps.record(bufnr)
  M.start(bufnr)
end

return M
