---A question of the model's, or of a command that needs words, waits here for the person.
local M = {}

---The handler of `tark/requestInput`: returns when it is answered.
---@param request tark.Input
---@param client_id integer
---@return { answer: string|string[]|vim.NIL }? answer
---@return lsp.ResponseError? problem
function M.requested(request, client_id)
  return require('tark.waiting').ask('inputs', request, client_id)
end

return M
