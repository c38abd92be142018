---By which key a person decides on a hunk, as they mapped it: what is said beside hunks must be true.
local M = {}

local COMMANDS = { accept = ':TarkAccept', reject = ':TarkReject' }
local found = {} ---@type table<string, string>
local asked = 0

---@param bufnr? integer nil: maps of all buffers
---@param what 'accept'|'reject'
---@return string?
local function mapped(bufnr, what)
  local maps = bufnr and vim.api.nvim_buf_get_keymap(bufnr, 'n') or vim.api.nvim_get_keymap('n')
  local plug = ('<plug>(tark-%s)'):format(what)
  local command = ('^<[Cc][Mm][Dd]>Tark%s<'):format(what:gsub('^%l', string.upper))
  for _, map in ipairs(maps) do
    local does = map.rhs or ''
    if not map.lhs:match('^<Plug>') and (does:lower() == plug or does:match(command)) then
      return map.lhs
    end
  end
end

---@param what 'accept'|'reject'
---@return string key or command
function M.of(what)
  local now = vim.uv.now()
  if now - asked > 1000 then -- of hundreds of hunks that are drawn at once, the first asks
    asked, found = now, {}
  end
  found[what] = found[what] or mapped(0, what) or mapped(nil, what) or COMMANDS[what]
  return found[what]
end

return M
