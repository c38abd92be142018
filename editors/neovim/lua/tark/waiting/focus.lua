---Brings the user to a waiting request, to answer it by keys.
local card = require('tark.waiting.card')
local float = require('tark.waiting.float')
local notify = require('tark.notify')
local waiting = require('tark.state.waiting')

local M = {}

---@param request_id? string nil: the one that is shown
function M.focus_request(request_id)
  local ok, problem = pcall(float.focus, request_id)
  if not ok then
    notify.warn('it cannot be shown here: ' .. (problem:match('E%d+:.*') or problem))
  end
end

---If more than one request waits, the user chooses one.
function M.choose()
  local all = waiting.all()
  if #all < 2 then
    return M.focus_request()
  end
  local options = {
    prompt = 'Waiting for you:',
    kind = 'tark_waiting',
    format_item = function(entry)
      return card.view(entry).title(entry.request)
    end,
  }
  vim.ui.select(all, options, function(entry)
    if entry then
      M.focus_request(entry.request.requestId)
    end
  end)
end

return M
