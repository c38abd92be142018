---Finds the key that the user mapped to a function of the plugin, so that hints on the screen are right.
local M = {}

---The functions of `require('tark')`, which a key can call. startup.lua sets it.
M.functions = {} ---@type table<string, function>

---A cache for the current main loop iteration: if hundreds of hunks are drawn at once, only the first looks up the key.
local cache ---@type table<string, string>?

---@param maps vim.api.keyset.get_keymap[]
---@param name string of a function of `require('tark')`
---@param command? string
---@return string? key
local function find_in(maps, name, command)
  local plug = ('<plug>(tark-%s)'):format(name:gsub('_', '-'))
  for _, map in ipairs(maps) do
    local key, rhs = vim.fn.keytrans(map.lhsraw or map.lhs), (map.rhs or ''):lower()
    local matches = rhs == plug
      or command and (rhs == ('<cmd>%s<cr>'):format(command:lower()) or rhs == (':%s<cr>'):format(command:lower()))
      or map.callback ~= nil and map.callback == M.functions[name]
    if matches and not key:find('^<Plug>') then
      return key
    end
  end
end

---@param name string of a function of `require('tark')`: 'accept'
---@param command? string 'TarkAccept'
---@return string? key as the user mapped it in the current buffer, else the command
function M.find_key(name, command)
  if not cache then
    cache = {}
    vim.schedule(function()
      cache = nil
    end)
  end
  if cache[name] == nil then
    cache[name] = find_in(vim.api.nvim_buf_get_keymap(0, 'n'), name, command)
      or find_in(vim.api.nvim_get_keymap('n'), name, command)
      or command and ':' .. command
      or ''
  end
  return cache[name] ~= '' and cache[name] or nil
end

return M
