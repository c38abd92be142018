---The documented keys, for who asks for them by `keymaps = true`. What a person has mapped already stays theirs.
local M = {}

M.PREFIX = '<leader>a'

---Modes, key, the `<Plug>` it stands for.
M.keys = {
  { 'nx', M.PREFIX .. 'a', 'agent' },
  { 'nx', M.PREFIX .. 'e', 'edit' },
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

local mapped ---@type table<string, string>? until Neovim goes on: of hundreds of hunks drawn at once, the first asks

---@param maps vim.api.keyset.get_keymap[]
---@param name string of a function of `require('tark')`
---@param command? string
---@return string? key
local function find(maps, name, command)
  local plug = ('<plug>(tark-%s)'):format(name:gsub('_', '-'))
  for _, map in ipairs(maps) do
    local key, does = vim.fn.keytrans(map.lhsraw or map.lhs), (map.rhs or ''):lower()
    local is_it = does == plug
      or command and (does == ('<cmd>%s<cr>'):format(command:lower()) or does == (':%s<cr>'):format(command:lower()))
      or map.callback ~= nil and map.callback == require('tark')[name]
    if is_it and not key:find('^<Plug>') then
      return key
    end
  end
end

---By which key a person comes to it in the current buffer, as they mapped it: what is said on the screen must be true.
---@param name string of a function of `require('tark')`: 'accept'
---@param command? string 'TarkAccept'
---@return string? key or command
function M.mapped(name, command)
  if not mapped then
    mapped = {}
    vim.schedule(function()
      mapped = nil
    end)
  end
  if mapped[name] == nil then
    mapped[name] = find(vim.api.nvim_buf_get_keymap(0, 'n'), name, command)
      or find(vim.api.nvim_get_keymap('n'), name, command)
      or command and ':' .. command
      or ''
  end
  return mapped[name] ~= '' and mapped[name] or nil
end

---which-key calls the group by its name; it may be loaded after us.
local function name_group()
  local which_key = package.loaded['which-key']
  if which_key and which_key.add then
    pcall(which_key.add, { { M.PREFIX, group = 'tark', mode = { 'n', 'x' } } })
    return true
  end
end

function M.set()
  vim.cmd.runtime('plugin/tark.lua') -- in an init.lua it comes before that, and it has the descriptions
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
