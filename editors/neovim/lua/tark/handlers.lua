---What the server asks and tells beyond LSP: each method's file, loaded when it first comes.

---@type table<string, fun(params: table, client_id: integer, context: lsp.HandlerContext): any, lsp.ResponseError?>
local ANSWERS = {
  ['tark/update'] = function(params, client_id)
    require('tark.updates').received(params, client_id)
  end,
  ['tark/session'] = function(params, client_id)
    require('tark.updates').session(params.session, client_id)
  end,
  ['tark/requestPermission'] = function(params, client_id)
    return require('tark.waiting').ask('permissions', params, client_id)
  end,
  ['tark/requestInput'] = function(params, client_id)
    return require('tark.waiting').ask('inputs', params, client_id)
  end,
  ['tark/clientState'] = function(params, client_id)
    return require('tark.client_state').answer(params, client_id)
  end,
  ['tark/save'] = function(params)
    return require('tark.save').answer(params)
  end,
  ['workspace/applyEdit'] = function(params, _, context)
    return require('tark.apply_edit').answer(params, context)
  end,
  ['window/showMessage'] = function(params)
    -- Neovim's own handler ends its lines so that they wait for a key.
    local notify, levels = require('tark.notify'), vim.log.levels
    local level = ({ levels.ERROR, levels.WARN })[params.type] or levels.INFO
    notify.say((params.message:gsub('^Tark: ', '')), level)
  end,
  ['$/cancelRequest'] = function(_, client_id)
    require('tark.waiting').taken_back(client_id)
  end,
}

local handlers = {} ---@type table<string, lsp.Handler>

for method, answer in pairs(ANSWERS) do
  -- In a request's own coroutine, which `answer` may leave by coroutine.yield() until the person has answered.
  handlers[method] = function(_, params, context)
    local ok, result, problem = xpcall(answer, debug.traceback, params, context.client_id, context)
    if not ok then
      require('tark.notify').bug(result)
      return nil, vim.lsp.rpc_response_error(vim.lsp.protocol.ErrorCodes.InternalError, 'the plugin failed')
    end
    if problem then
      return nil, problem
    end
    return result == nil and vim.NIL or result
  end
end

return handlers
