---Gives a buffer without a name (`[No Name]`) the name of a file that does not exist while Tark works on it, because a
---language server cannot change a buffer without a name. Nothing is written to that file, and the name is removed
---afterwards.
local workspace = require('tark.workspace')

local M = {}

local given = {} ---@type table<integer, string> names by buffer

---@param bufnr integer
---@return boolean has_given_name it has a name from here, and the user has given it no other
function M.has_given_name(bufnr)
  return given[bufnr] ~= nil and vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_name(bufnr) == given[bufnr]
end

---@return integer[] buffers that have such a name
function M.buffers()
  return vim.tbl_filter(M.has_given_name, vim.tbl_keys(given))
end

---@param bufnr integer
---@return string? name nil: the buffer has a name, or is not for files
function M.give_name(bufnr)
  local is_unnamed = vim.bo[bufnr].buftype == '' and vim.api.nvim_buf_get_name(bufnr) == ''
  if not is_unnamed or vim.bo[bufnr].binary then
    return nil
  end
  local number, name = 1, 'untitled'
  while vim.uv.fs_stat(vim.fn.fnamemodify(name, ':p')) or vim.fn.bufexists(vim.fn.fnamemodify(name, ':p')) == 1 do
    number = number + 1
    name = 'untitled-' .. number
  end
  vim.api.nvim_buf_set_name(bufnr, vim.fn.fnamemodify(name, ':p'))
  given[bufnr] = vim.api.nvim_buf_get_name(bufnr)
  return name
end

---Takes the name away again, unless the user has written the file.
---@param bufnr integer
function M.take_name(bufnr)
  local name = given[bufnr]
  if not M.has_given_name(bufnr) or vim.uv.fs_stat(name) then
    given[bufnr] = nil
    return
  end
  given[bufnr] = nil
  vim.api.nvim_buf_call(bufnr, function()
    vim.cmd('silent 0file')
  end)
  local leftover = workspace.find_buffer(vim.uri_from_fname(name)) -- Neovim keeps the old name as another buffer
  if leftover then
    vim.api.nvim_buf_delete(leftover, { force = true })
  end
end

return M
