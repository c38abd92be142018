---What the person typed and nobody asks for any more is not lost: it is kept in a register.
local M = {}

local REGISTER = 't'

---@param text string
---@param why string
function M.keep(text, why)
  if vim.trim(text) ~= '' then
    vim.fn.setreg(REGISTER, text)
    require('tark.notify').warn(('%s: what you wrote is in register %s ("%sp)'):format(why, REGISTER, REGISTER))
  end
end

return M
