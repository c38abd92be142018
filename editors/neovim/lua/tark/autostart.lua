---The server starts with the first file, so that hunks and code actions are there before the first command.
local M = {}

---@param bufnr integer a buffer that was just read
function M.opened(bufnr)
  local server = require('tark.server')
  if not require('tark.config').get().autostart or not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  if vim.bo[bufnr].buftype == '' and server.find_cmd() then
    server.ensure(bufnr, function(problem)
      if problem then
        require('tark.notify').warn(problem)
      end
    end)
  end
end

return M
