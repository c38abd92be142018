---How the person goes to what waits for them, to answer it by keys.
local M = {}

---@param request_id? string nil: the one that is shown
function M.to(request_id)
  local ok, problem = pcall(require('tark.waiting.float').go, request_id)
  if not ok then
    require('tark.notify').warn('it cannot be shown here: ' .. (problem:match('E%d+:.*') or problem))
  end
end

---Where more than one waits, it can be chosen.
function M.choose()
  local all = require('tark.waiting').all()
  if #all < 2 then
    return M.to()
  end
  local card = require('tark.waiting.card')
  local options = {
    prompt = 'Waiting for you:',
    kind = 'tark_waiting',
    format_item = function(each)
      return card.view(each).title(each.request)
    end,
  }
  vim.ui.select(all, options, function(each)
    if each then
      M.to(each.request.requestId)
    end
  end)
end

return M
