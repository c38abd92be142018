---What the file of each buffer was when Neovim read or wrote it last. Where it is another one by now, `:write` asks the
---person about that, and waits; Neovim knows, but does not tell.
local M = {}

local seen = {} ---@type table<integer, string> by buffer

---@param bufnr integer
---@return string 'none': no such file
local function look(bufnr)
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr))
  return stat and ('%d.%09d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size) or 'none'
end

---It was read or written right now.
---@param bufnr integer
function M.note(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    seen[bufnr] = look(bufnr)
  end
end

---@param bufnr integer
---@return boolean is it the file that Neovim read? Not if that is unknown.
function M.is_unchanged(bufnr)
  return seen[bufnr] == look(bufnr)
end

local group = vim.api.nvim_create_augroup('tark_disk', {})
-- Not FileChangedShellPost: that comes also where the person chose to keep the buffer as it is.
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
  group = group,
  callback = function(event)
    M.note(event.buf)
  end,
})
vim.api.nvim_create_autocmd('BufWipeout', {
  group = group,
  callback = function(event)
    seen[event.buf] = nil
  end,
})

return M
