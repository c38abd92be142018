---The server starts with the first file, so that hunks and code actions are there before the first command.
local M = {}

---@param bufnr integer a buffer of a file that Neovim read, or that has a name since now
function M.start(bufnr)
  local server, workspace = require('tark.server'), require('tark.workspace')
  if not require('tark.config').get().autostart or server.start_failed or not workspace.is_file(bufnr) then
    return
  end
  local settings = vim.lsp.config.tark or {}
  local wanted = not settings.filetypes or vim.list_contains(settings.filetypes, vim.bo[bufnr].filetype)
  -- Where there is none, commands say so, and :checkhealth.
  local can = settings.cmd ~= require('tark.process').start or require('tark.process').find()
  if wanted and can and vim.api.nvim_buf_is_loaded(bufnr) then
    server.ensure(bufnr, function(problem)
      if problem then
        require('tark.notify').warn(problem)
      end
    end)
  end
end

---@param bufnr integer a buffer that was just read
function M.opened(bufnr)
  require('tark.disk').note(bufnr)
  M.start(bufnr)
end

return M
