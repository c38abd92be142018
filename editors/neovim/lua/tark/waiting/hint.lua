---How the person comes to what waits: the key they mapped, else the command.
local M = {}

---@return string
function M.get()
  for _, mapped in ipairs(vim.api.nvim_get_keymap('n')) do
    local to = mapped.rhs or ''
    local key = vim.fn.keytrans(mapped.lhsraw or mapped.lhs)
    if (to:find('tark%-permission') or to:find('TarkPermission')) and not key:find('^<Plug>') then
      return key
    end
  end
  return ':TarkPermission'
end

return M
