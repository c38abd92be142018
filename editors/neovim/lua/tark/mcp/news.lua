---Tells the user once that an MCP server or a hook waits for their approval.
local notify = require('tark.notify')
local rows = require('tark.mcp.rows')
local state = require('tark.state')

state.on('mcp', function(_, unanswered)
  if #unanswered > 0 then
    notify.info(rows.news(unanswered) .. ' (:TarkMcp)')
  end
end)

return {}
