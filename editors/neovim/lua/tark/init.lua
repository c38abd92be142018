---What other configurations call: `require('tark')`. Each function is documented in doc/tark.txt.
local M = {}

---Optional: everything works without it.
---@param options? table see tark.Config
function M.setup(options)
  for _, problem in ipairs(require('tark.config').set(options)) do
    require('tark.notify').warn(problem)
  end
end

return M
