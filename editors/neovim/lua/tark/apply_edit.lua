---Edits of the server, applied as Neovim does it, but for what would end in a stack of errors or in one undo step with
---what was done before.
local M = {}

---@param params lsp.ApplyWorkspaceEditParams
---@return integer[] buffers that it changes, as far as there are any
local function buffers_of(params)
  local found = {}
  for _, change in ipairs(params.edit.documentChanges or {}) do
    local bufnr = change.textDocument and require('tark.workspace').buffer(change.textDocument.uri)
    if bufnr and vim.api.nvim_buf_is_loaded(bufnr) then
      table.insert(found, bufnr)
    end
  end
  return found
end

---@param params lsp.ApplyWorkspaceEditParams
---@param context lsp.HandlerContext
function M.answer(params, context)
  for _, bufnr in ipairs(buffers_of(params)) do
    if not vim.bo[bufnr].modifiable then
      local name = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr))
      return { applied = false, failureReason = ("%s is not 'modifiable' in Neovim"):format(name) }
    end
    vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels -- a step of its own, also while one types
  end
  params.label = nil -- it would be printed
  return vim.lsp.handlers['workspace/applyEdit'](nil, params, context)
end

return M
