---When a buffer gets another name (`:file`, `:saveas`, the first `:write`), closes the old document on the server and
---opens the new one. Neovim would do that only at the next `:write`, and until then send changes of a document that the
---server does not know.
local M = {}

local was_attached = {} ---@type table<integer, true> buffers that are between two names

---@param bufnr integer has its old name
function M.before(bufnr)
  for _, client in ipairs(vim.lsp.get_clients({ name = 'tark', bufnr = bufnr })) do
    was_attached[bufnr] = true
    vim.lsp.buf_detach_client(bufnr, client.id)
  end
end

---@param bufnr integer
---@param reattach boolean
local function open_document(bufnr, reattach)
  local workspace, file_stamps = require('tark.workspace'), require('tark.file_stamps')
  if not workspace.is_file(bufnr) or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  if not vim.bo[bufnr].modified then -- it was written before `file_stamps` was loaded and could see it
    file_stamps.record(bufnr)
  end
  if reattach then
    require('tark.server.lifecycle').ensure_server(bufnr, function(problem)
      if problem then
        require('tark.notify').warn(problem)
      end
    end)
  else
    require('tark.autostart').start(bufnr)
  end
end

---@param bufnr integer has its new name; it can be written after this
function M.after(bufnr)
  local reattach = was_attached[bufnr] == true
  was_attached[bufnr] = nil
  vim.schedule(function()
    open_document(bufnr, reattach)
  end)
end

return M
