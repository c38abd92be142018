---Shows a message when a turn has failed or has ended without a change, if its end in the chat is not on the screen.
local notify = require('tark.notify')
local state = require('tark.state')

---@param edits { uri: string, state: string }[]
---@return string?
local function message_of(update, edits)
  local failure = update.stopReason == 'error' and update.error
  if failure and failure.code ~= 'interrupted' then -- the message about the end of the server says that
    return failure.hint ~= '' and failure.hint and ('%s; %s'):format(failure.message, failure.hint) or failure.message
  elseif update.stopReason == 'end_turn' and #edits == 0 then
    return 'answered without a change (:TarkChat)'
  end
end

state.on('update', function(_, params)
  local update = params.update
  if update.kind == 'end' then
    local message = message_of(update, update.edits or {})
    if message and not require('tark.chat.view').shows_end(params.sessionId) then
      notify.info(message, update.stopReason == 'error' and vim.log.levels.WARN or nil)
    end
  end
end)

return {}
