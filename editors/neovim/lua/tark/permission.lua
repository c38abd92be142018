---What the model may do waits here for the person: asked by the server, shown without the focus, answered once.
---Questions (tark.input) wait in the same queue and the same float.
local M = {}

---The handler of `tark/requestPermission`: returns when it is answered.
---@param request tark.Permission
---@param client_id integer
---@return tark.PermissionReply? answer
---@return lsp.ResponseError? problem
function M.requested(request, client_id)
  return require('tark.waiting').ask('permissions', request, client_id)
end

---`$/cancelRequest`: some request, permission or question, is no more.
---@param client_id integer
function M.taken_back(client_id)
  require('tark.waiting').taken_back(client_id)
end

---Go to what waits, to answer it by keys.
---@param request_id? string nil: the one that is shown
function M.go(request_id)
  local ok, problem = pcall(require('tark.waiting.float').go, request_id)
  if not ok then
    require('tark.notify').warn('it cannot be shown here: ' .. (problem:match('E%d+:.*') or problem))
  end
end

---Go to what waits; where that is more than one, it can be chosen.
function M.list()
  local all = require('tark.waiting').all()
  if #all < 2 then
    return M.go()
  end
  local titles = {
    permissions = require('tark.permission.view').title,
    inputs = require('tark.input.view').title,
  }
  local options = {
    prompt = 'Waiting for you:',
    kind = 'tark_waiting',
    format_item = function(each)
      return titles[each.kind](each.request)
    end,
  }
  vim.ui.select(all, options, function(each)
    if each then
      M.go(each.request.requestId)
    end
  end)
end

return M
