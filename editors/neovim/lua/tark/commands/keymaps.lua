---Maps the documented keys if the option `keymaps` is true. Keys that the user has mapped already are left alone.
local M = {}

M.PREFIX = '<leader>a'

---Modes, key, and the `<Plug>` map that it calls.
M.keys = {
  { 'nx', M.PREFIX .. 'a', 'agent' },
  { 'nxo', M.PREFIX .. 'e', 'edit' },
  { 'nx', M.PREFIX .. 'q', 'ask' },
  { 'nx', M.PREFIX .. 'x', 'explain' },
  { 'nx', M.PREFIX .. 'f', 'fix' },
  { 'nx', M.PREFIX .. 't', 'test' },
  { 'n', M.PREFIX .. 'c', 'chat' },
  { 'n', M.PREFIX .. 's', 'stop' },
  { 'n', M.PREFIX .. 'S', 'stop!' },
  { 'nx', M.PREFIX .. 'y', 'accept' },
  { 'n', M.PREFIX .. 'Y', 'accept!' },
  { 'nx', M.PREFIX .. 'n', 'reject' },
  { 'n', M.PREFIX .. 'N', 'reject!' },
  { 'n', M.PREFIX .. 'd', 'hunk-diff' },
  { 'n', M.PREFIX .. 'h', 'hunk-edit' },
  { 'n', M.PREFIX .. 'g', 'hunk-regenerate' },
  { 'n', M.PREFIX .. 'u', 'undo' },
  { 'n', M.PREFIX .. 'r', 'review' },
  { 'n', M.PREFIX .. 'p', 'permission' },
  { 'n', M.PREFIX .. 'l', 'sessions' },
  { 'n', M.PREFIX .. 'm', 'model' },
  { 'n', M.PREFIX .. 'o', 'mode' },
  { 'n', M.PREFIX .. 'i', 'status' },
  { 'nxo', ']h', 'next-hunk' },
  { 'nxo', '[h', 'prev-hunk' },
}

---Tells which-key the name of the group. It can be loaded later.
local function name_group()
  local which_key = package.loaded['which-key']
  if which_key and which_key.add then
    pcall(which_key.add, { { M.PREFIX, group = 'tark', mode = { 'n', 'x' } } })
    return true
  end
end

function M.set()
  vim.cmd.runtime('plugin/tark.lua') -- an init.lua runs before it, and it has the descriptions
  for _, row in ipairs(M.keys) do
    local modes, key, name = unpack(row)
    local plug = ('<Plug>(tark-%s)'):format(name)
    for mode in modes:gmatch('.') do
      if vim.fn.maparg(key, mode) == '' then
        vim.keymap.set(mode, key, plug, { desc = vim.fn.maparg(plug, mode, false, true).desc })
      end
    end
  end
  if not name_group() then
    vim.api.nvim_create_autocmd('User', { pattern = 'VeryLazy', once = true, callback = vim.schedule_wrap(name_group) })
    vim.api.nvim_create_autocmd('VimEnter', { once = true, callback = vim.schedule_wrap(name_group) })
  end
end

return M
