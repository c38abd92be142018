---Time and size of each buffer's file when Neovim last read or wrote it. If the file has changed since, `:write` asks
---the user, and waits. Neovim detects such a change, but has no function that reports it.
local M = {}

local stamps = {} ---@type table<integer, string> by buffer

---@param bufnr integer
---@return string 'none' if there is no such file
local function current_stamp(bufnr)
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr))
  return stat and ('%d.%09d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size) or 'none'
end

---Call this when the buffer's file has just been read or written.
---@param bufnr integer
function M.record(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    stamps[bufnr] = current_stamp(bufnr)
  end
end

---@param bufnr integer
---@return boolean is the file still as Neovim read or wrote it? false if that is unknown
function M.is_unchanged(bufnr)
  return stamps[bufnr] == current_stamp(bufnr)
end

local group = vim.api.nvim_create_augroup('tark_file_stamps', {})
-- Not FileChangedShellPost: it also comes if the user chose to keep the buffer as it is.
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
  group = group,
  callback = function(event)
    M.record(event.buf)
  end,
})
vim.api.nvim_create_autocmd('BufWipeout', {
  group = group,
  callback = function(event)
    stamps[event.buf] = nil
  end,
})

return M
