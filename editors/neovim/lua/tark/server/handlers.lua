---Handles requests and notifications of the server that are not part of LSP. Upper layers register their own handlers.
local notify = require('tark.notify')

local M = {}

---@alias tark.Answer fun(params: table, client_id: integer, context: lsp.HandlerContext): any, lsp.ResponseError?

---Methods that upper layers answer.
M.REGISTERED = {
  'tark/update',
  'tark/session',
  'tark/mcp',
  'tark/requestPermission',
  'tark/requestInput',
  '$/cancelRequest',
}

---@type table<string, tark.Answer>
local answers = {
  ['tark/clientState'] = function(params, client_id)
    return require('tark.server.client_state').answer(params, client_id)
  end,
  ['tark/save'] = function(params)
    return require('tark.server.save').answer(params)
  end,
  ['workspace/applyEdit'] = function(params, _, context)
    return require('tark.server.apply_edit').answer(params, context)
  end,
  ['window/showMessage'] = function(params)
    -- Neovim's own handler ends the message with line breaks, which makes Neovim wait for a key.
    local levels = vim.log.levels
    local level = ({ levels.ERROR, levels.WARN })[params.type] or levels.INFO
    notify.info((params.message:gsub('^Tark: ', '')), level)
  end,
}

---@param method string one of `REGISTERED`
---@param answer tark.Answer
function M.register(method, answer)
  assert(vim.list_contains(M.REGISTERED, method), method)
  answers[method] = answer
end

---@return boolean
function M.is_registered(method)
  return answers[method] ~= nil
end

---Runs in a coroutine for the request. `answer` can call coroutine.yield() to wait until the user has answered.
---@param method string
---@return lsp.Handler
local function handler(method)
  return function(_, params, context)
    local ok, result, problem = xpcall(answers[method], debug.traceback, params, context.client_id, context)
    if not ok then
      notify.internal_error(result)
      return nil, vim.lsp.rpc_response_error(vim.lsp.protocol.ErrorCodes.InternalError, 'the plugin failed')
    end
    if problem then
      return nil, problem
    end
    return result == nil and vim.NIL or result
  end
end

M.by_method = {} ---@type table<string, lsp.Handler>

for _, method in ipairs(vim.list_extend(vim.tbl_keys(answers), M.REGISTERED)) do
  M.by_method[method] = handler(method)
end

return M
