---Shows a message when a turn has failed or has ended without a change, if its end in the chat is not on the screen.
local notify = require('tark.notify')
local state = require('tark.state')

---@param failure { message: string, hint?: string }
local function show_failure(failure)
  local has_hint = (failure.hint or '') ~= ''
  local whole = has_hint and ('%s; %s'):format(failure.message, failure.hint) or failure.message
  notify.warn(whole)
  if has_hint and not notify.fits(whole) then -- Neovim cuts out the middle, and with it the reason: it is in :messages
    notify.warn(failure.message .. ' (:messages says what to do)')
  end
end

state.on('update', function(_, params)
  local update = params.update
  if update.kind == 'end' then
    local failure = update.stopReason == 'error' and update.error
    local unchanged = update.stopReason == 'end_turn' and #(update.edits or {}) == 0
    if not (failure or unchanged) or require('tark.chat.view').shows_end(params.sessionId) then
      return
    elseif unchanged then
      notify.info('answered without a change (:TarkChat)')
    elseif failure.code ~= 'interrupted' then -- the message about the end of the server says that
      show_failure(failure)
    end
  end
end)

return {}
