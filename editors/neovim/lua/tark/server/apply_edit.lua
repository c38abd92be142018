---Applies edits of the server with Neovim's own function. Refuses or prepares edits that Neovim would handle badly:
---silently wrong, with a stack of errors, or by closing the user's windows.
local workspace = require('tark.workspace')

local M = {}

---@alias tark.Refusal string the reason, for the server and the log

---The loaded buffer that shows a file.
---@param uri string
---@return integer?
local function loaded_buffer(uri)
  local bufnr = workspace.find_buffer(uri)
  return bufnr and vim.api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---In LSP, each carriage return ends a line. For Neovim, which applies the edit, only the file's own line endings do.
---@param bufnr integer
local function counts_lines_differently(bufnr)
  local format = vim.bo[bufnr].fileformat
  local inside = format == 'dos' and '\r' or '\r.' -- in a unix file, one at the end of a line is half of a CRLF
  return format ~= 'mac'
    and vim.iter(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)):any(function(line)
      return line:find(inside) ~= nil
    end)
end

---@param change lsp.TextDocumentEdit
---@return tark.Refusal?
local function edit_refused(change)
  local bufnr = loaded_buffer(change.textDocument.uri)
  -- The user closed the file while the edit was on its way. Neovim would load the file into a hidden buffer, and edit
  -- it there. After a refusal, the server writes the file itself.
  if not bufnr then
    return ('%s is not open in Neovim'):format(vim.fs.basename(vim.uri_to_fname(change.textDocument.uri)))
  end
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr))
  local version = change.textDocument.version
  -- If the version differs, Neovim skips the edit, answers that it is applied, and can show a message that waits for a
  -- key. It does not check version 0.
  if version and version ~= vim.NIL and version ~= vim.lsp.util.buf_versions[bufnr] then
    return 'the text is newer'
  elseif not vim.bo[bufnr].modifiable then
    return ("%s is not 'modifiable' in Neovim"):format(name)
  elseif counts_lines_differently(bufnr) then
    return ('a line of %s has a carriage return inside: Neovim counts its lines differently'):format(name)
  end
  vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels -- make the edit a separate undo step, also while the user types
end

---Refuses renames for which Neovim would only show a message, and answer that the file is renamed.
---@param change lsp.RenameFile
---@return tark.Refusal?
local function rename_refused(change)
  local from, to = vim.uri_to_fname(change.oldUri), vim.uri_to_fname(change.newUri)
  if not vim.uv.fs_stat(from) then
    return ('%s does not exist'):format(from)
  elseif change.options and change.options.overwrite and not change.options.ignoreIfExists then
    return nil
  elseif vim.uv.fs_stat(to) then
    return ('%s exists already'):format(to)
  elseif loaded_buffer(change.newUri) then
    return ('%s is open in Neovim, unsaved'):format(to)
  end
end

---Shows another buffer in the windows of a file that Neovim is about to delete, because Neovim would close them.
---@param change lsp.DeleteFile
---@return fun() restore to be called if the file was not deleted
local function show_other_buffers(change)
  local bufnr = workspace.find_buffer(change.uri)
  local changed, empty = {}, nil ---@type integer[], integer?
  for _, window in ipairs(bufnr and vim.fn.win_findbuf(bufnr) or {}) do
    local other = vim.api.nvim_win_call(window, function()
      return vim.fn.bufnr('#')
    end)
    if other < 1 or other == bufnr or not vim.api.nvim_buf_is_loaded(other) or not vim.bo[other].buflisted then
      empty = empty or vim.api.nvim_create_buf(true, false)
      other = empty
    end
    if pcall(vim.api.nvim_win_set_buf, window, other) then -- it fails if 'winfixbuf' is set
      table.insert(changed, window)
    end
  end
  return function()
    for _, window in ipairs(changed) do
      pcall(vim.api.nvim_win_set_buf, window, bufnr)
    end
  end
end

---@param change lsp.TextDocumentEdit|lsp.RenameFile|lsp.DeleteFile|lsp.CreateFile
---@return tark.Refusal?
local function change_refused(change)
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
    local refusal = change_refused(change)
    if refusal then
      return { applied = false, failureReason = refusal }
    end
  end
  local restores = {} ---@type fun()[]
  for _, change in ipairs(changes) do
    if change.kind == 'delete' then
      table.insert(restores, show_other_buffers(change --[[@as lsp.DeleteFile]]))
    end
  end
  params.label = nil -- Neovim would print it
  local answer = vim.lsp.handlers['workspace/applyEdit'](nil, params, context)
  if not answer.applied then
    for _, restore in ipairs(restores) do
      restore()
    end
  end
  return answer
end

return M
