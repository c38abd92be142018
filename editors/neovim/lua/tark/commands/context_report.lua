---`:TarkContext`: shows what the next prompt of the session consists of, in a small window.
local clients = require('tark.server.clients')
local figures = require('tark.figures')
local float = require('tark.float')
local requests = require('tark.server.requests')
local state = require('tark.state')
local visible = require('tark.visible')

local M = {}

---@param lines string[]
local function show(lines)
  float.show(lines, 'Context')
end

---@param answer table the answer of `tark.session.context`
---@return string[]
function M.report(answer)
  local window = answer.contextWindow
  local share = type(window) == 'number'
      and (' of %s (%d %%)'):format(figures.short_number(window), answer.tokens * 100 / window)
    or ''
  local lines = { figures.short_number(answer.tokens) .. share .. ' tokens in the next prompt' }
  for _, part in ipairs(answer.parts) do
    local name = part.kind == 'history' and figures.counted(part.messages, 'message') or part.name
    local reason = type(part.reason) == 'string' and part.reason or nil
    local row = ('%7s  %s'):format(figures.short_number(part.tokens), figures.join(name, reason))
    table.insert(lines, visible.line(row))
  end
  return lines
end

function M.show()
  local client = clients.for_buffer()
  if not client or not client.initialized then
    return show({ 'No session is open, because no server runs.', 'Run :checkhealth tark.' })
  end
  local session_id = state.of_client(client.id).session_id
  if not session_id then
    return show({ 'There is no session yet: it starts with your first prompt.' })
  end
  requests.send_command(client, 'tark.session.context', { sessionId = session_id }, function(problem, answer)
    show(answer and M.report(answer) or { visible.line(problem or 'The server did not answer.') })
  end)
end

return M
