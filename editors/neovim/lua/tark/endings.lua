---How a turn ended, for the person who does not see it: the chat is not on the screen, and nothing was changed.
local state = require('tark.state')

---@param edits { uri: string, state: string }[]
---@return string?
local function words(update, edits)
  local failed = update.stopReason == 'error' and update.error
  if failed and failed.code ~= 'interrupted' then -- that is told with the end of the server
    return failed.hint ~= '' and failed.hint and ('%s; %s'):format(failed.message, failed.hint) or failed.message
  elseif update.stopReason == 'end_turn' and #edits == 0 then
    return 'answered without a change (:TarkChat)'
  end
end

state.on('update', function(_, params)
  local update = params.update
  if update.kind == 'end' and #require('tark.chat.view').windows() == 0 then
    local said = words(update, update.edits or {})
    if said then
      require('tark.notify').say(said, update.stopReason == 'error' and vim.log.levels.WARN or nil)
    end
  end
end)

return {}
