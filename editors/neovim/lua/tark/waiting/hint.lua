---How the person comes to what waits: the key they mapped, else the command.
local M = {}

---@return string
function M.get()
  for _, mapped in ipairs(vim.api.nvim_get_keymap('n')) do
    local to = mapped.rhs or ''
    if to:find('tark%-permission') or to:find('TarkPermission') then
      return vim.fn.keytrans(mapped.lhsraw or mapped.lhs)
    end
  end
  return ':TarkPermission'
end

return M
