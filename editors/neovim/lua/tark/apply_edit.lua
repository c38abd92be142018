---Edits of the server, applied as Neovim does it, but for what Neovim would do wrong without a word, or with a stack of
---errors, or at the cost of the person's windows.
local M = {}

---@alias tark.Refusal string a reason, for the server and the log

---The buffer that has it open.
---@param uri string
---@return integer?
local function loaded(uri)
  local bufnr = require('tark.workspace').buffer(uri)
  return bufnr and vim.api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---LSP ends a line at each carriage return; Neovim, which puts the edit in, only at the ends of the file's own kind.
---@param bufnr integer
local function counts_otherwise(bufnr)
  local format = vim.bo[bufnr].fileformat
  local inside = format == 'dos' and '\r' or '\r.' -- in a unix file one at the line's end is half of a CRLF
  return format ~= 'mac'
    and vim.iter(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)):any(function(line)
      return line:find(inside) ~= nil
    end)
end

---@param change lsp.TextDocumentEdit
---@return tark.Refusal?
local function edit_refused(change)
  local bufnr = loaded(change.textDocument.uri)
  if not bufnr then
    return nil
  end
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr))
  local version = change.textDocument.version
  -- Neovim checks none if it is 0, else skips the edit, says that it is applied, and shows what may wait for a key.
  if version and version ~= vim.NIL and version ~= vim.lsp.util.buf_versions[bufnr] then
    return 'the text is newer'
  elseif not vim.bo[bufnr].modifiable then
    return ("%s is not 'modifiable' in Neovim"):format(name)
  elseif counts_otherwise(bufnr) then
    return ('a line of %s has a carriage return inside: Neovim counts its lines otherwise'):format(name)
  end
  vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels -- a step of its own, also while one types
end

---Neovim would only show a message of its own, and say that it is renamed.
---@param change lsp.RenameFile
---@return tark.Refusal?
local function rename_refused(change)
  local from, to = vim.uri_to_fname(change.oldUri), vim.uri_to_fname(change.newUri)
  if not vim.uv.fs_stat(from) then
    return ('there is no %s'):format(from)
  elseif change.options and change.options.overwrite and not change.options.ignoreIfExists then
    return nil
  elseif vim.uv.fs_stat(to) then
    return ('there is a %s'):format(to)
  elseif loaded(change.newUri) then
    return ('%s is open in Neovim, unsaved'):format(to)
  end
end

---The windows that show it go on with another buffer, for Neovim closes them with the one of the file.
---@param change lsp.DeleteFile
---@return fun() back for where it is not deleted after all
local function leave(change)
  local bufnr = require('tark.workspace').buffer(change.uri)
  local left, empty = {}, nil ---@type integer[], integer?
  for _, window in ipairs(bufnr and vim.fn.win_findbuf(bufnr) or {}) do
    local other = vim.api.nvim_win_call(window, function()
      return vim.fn.bufnr('#')
    end)
    if other < 1 or other == bufnr or not vim.api.nvim_buf_is_loaded(other) or not vim.bo[other].buflisted then
      empty = empty or vim.api.nvim_create_buf(true, false)
      other = empty
    end
    if pcall(vim.api.nvim_win_set_buf, window, other) then -- not where 'winfixbuf' is set
      table.insert(left, window)
    end
  end
  return function()
    for _, window in ipairs(left) do
      pcall(vim.api.nvim_win_set_buf, window, bufnr)
    end
  end
end

---@param change lsp.TextDocumentEdit|lsp.RenameFile|lsp.DeleteFile|lsp.CreateFile
---@return tark.Refusal?
local function refused(change)
  if change.kind == 'rename' then
    return rename_refused(change --[[@as lsp.RenameFile]])
  elseif not change.kind then
    return edit_refused(change --[[@as lsp.TextDocumentEdit]])
  end
end

---@param params lsp.ApplyWorkspaceEditParams
---@param context lsp.HandlerContext
function M.answer(params, context)
  local changes = params.edit.documentChanges or {}
  for _, change in ipairs(changes) do
    local refusal = refused(change)
    if refusal then
      return { applied = false, failureReason = refusal }
    end
  end
  local back = {} ---@type fun()[]
  for _, change in ipairs(changes) do
    if change.kind == 'delete' then
      table.insert(back, leave(change --[[@as lsp.DeleteFile]]))
    end
  end
  params.label = nil -- it would be printed
  local answer = vim.lsp.handlers['workspace/applyEdit'](nil, params, context)
  if not answer.applied then
    for _, restore in ipairs(back) do
      restore()
    end
  end
  return answer
end

return M
