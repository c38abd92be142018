---Shows a message when a turn has failed or has ended without a change, if its end in the chat is not on the screen.
local notify = require('tark.notify')
local state = require('tark.state')

state.on('update', function(_, params)
  local update = params.update
  if update.kind == 'end' then
    local failure = update.stopReason == 'error' and update.error
    local unchanged = update.stopReason == 'end_turn' and #(update.edits or {}) == 0
    if not (failure or unchanged) or require('tark.chat.view').shows_end(params.sessionId) then
      return
    elseif unchanged then
      notify.info('answered without a change (:TarkChat)')
    elseif failure.code ~= 'interrupted' then -- the message about the end of the server already says that
      local has_hint = (failure.hint or '') ~= ''
      notify.warn(has_hint and ('%s; %s'):format(failure.message, failure.hint) or failure.message)
    end
  end
end)

return {}
