---`:TarkRestore`: goes back to the state before an earlier prompt. The session continues in a fork, and the text of
---that prompt is in the chat's prompt window again.
local chat = require('tark.chat')
local clients = require('tark.server.clients')
local notify = require('tark.notify')
local request = require('tark.pickers.request')
local session_loader = require('tark.state.session_loader')
local sessions = require('tark.state.sessions')
local state = require('tark.state')
local visible = require('tark.visible')
local workspace = require('tark.workspace')

local M = {}

local NOTHING = 'there is no prompt to go back to'

---@param messages table[]
---@return table[] prompts the messages that began a turn, and messages without a turn; the newest first
local function prompts_of(messages)
  local begun, found = {}, {}
  for _, message in ipairs(messages) do
    local begins = message.turnId == '' or not begun[message.turnId]
    if message.role == 'user' and message.messageId and begins then
      table.insert(found, 1, message)
    end
    begun[message.turnId] = true
  end
  return found
end

---@param uris string[]
---@return string
local function names(uris)
  return table.concat(vim.tbl_map(workspace.display_name, uris), ', ')
end

---@param argument table
local function restore(argument)
  request('tark.session.restore', argument, function(answer, server_state)
    local session_id = answer.session.sessionId
    session_loader.ensure_loaded(server_state, session_id, function(problem)
      if problem then
        return notify.warn(problem)
      end
      sessions.select_session(server_state, session_id)
      chat.show({ focus = true })
      chat.restore_prompt(answer.prompt)
    end)
    local parts = { 'this is a copy from before that prompt' }
    if #answer.restored > 0 then
      table.insert(parts, 'took back ' .. names(answer.restored))
    end
    for _, kept in ipairs(answer.kept) do
      table.insert(parts, ('kept %s: %s'):format(workspace.display_name(kept.uri), kept.reason))
    end
    if #answer.changedByCommand > 0 then
      table.insert(parts, 'commands changed ' .. names(answer.changedByCommand) .. ', which stays')
    end
    local tell = #answer.kept + #answer.changedByCommand > 0 and notify.warn or notify.info
    tell(table.concat(parts, '; '))
  end)
end

---Asks whether the files go back, too. If no file would change, does not ask.
---@param argument table
local function choose_files(argument)
  local preview = vim.tbl_extend('error', argument, { files = true, preview = true })
  request('tark.session.restore', preview, function(foreseen)
    if #foreseen.restored == 0 then
      return restore(argument)
    end
    local choices = { 'The chat and the files: ' .. visible.line(names(foreseen.restored)), 'The chat only' }
    vim.ui.select(choices, { prompt = 'Go back to before it:', kind = 'tark_restore_files' }, function(_, index)
      if index then
        restore(vim.tbl_extend('error', argument, { files = index == 1 }))
      end
    end)
  end)
end

---@param session_id string
local function choose_prompt(session_id)
  request('tark.session.open', { sessionId = session_id }, function(opened)
    local prompts = prompts_of(opened.messages)
    if #prompts == 0 then
      return notify.info(NOTHING)
    end
    vim.ui.select(prompts, {
      prompt = 'Go back to before which prompt?',
      kind = 'tark_restore',
      format_item = function(message)
        return visible.line(message.text:match('[^\n]*'))
      end,
    }, function(message)
      if message then
        choose_files({ sessionId = session_id, messageId = message.messageId })
      end
    end)
  end)
end

---Lists the prompts of the current session.
function M.choose()
  local client = clients.for_buffer()
  local session_id = client and state.of_client(client.id).session_id
  if not session_id then
    return notify.info(NOTHING)
  end
  choose_prompt(session_id)
end

return M
