---A buffer gets another name (`:file`, `:saveas`, the first `:write`): the server closes one document and opens
---another. Neovim would do that only with the next `:write`, and till then tell changes of a document nobody knows.
local M = {}

local attached = {} ---@type table<integer, true> buffers on their way from one name to the next

---@param bufnr integer it has its old name still
function M.before(bufnr)
  for _, client in ipairs(vim.lsp.get_clients({ name = 'tark', bufnr = bufnr })) do
    attached[bufnr] = true
    vim.lsp.buf_detach_client(bufnr, client.id)
  end
end

---@param bufnr integer it has its new name; that it is written may still be to come
function M.after(bufnr)
  local was_attached = attached[bufnr]
  attached[bufnr] = nil
  vim.schedule(function()
    local workspace, disk = require('tark.workspace'), require('tark.disk')
    if not workspace.is_file(bufnr) or not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    if not vim.bo[bufnr].modified then -- written just now, before `disk` was loaded to see it
      disk.note(bufnr)
    end
    if was_attached then
      require('tark.server').ensure(bufnr, function(problem)
        if problem then
          require('tark.notify').warn(problem)
        end
      end)
    else
      require('tark.autostart').start(bufnr)
    end
  end)
end

return M
