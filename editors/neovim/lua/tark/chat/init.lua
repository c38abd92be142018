---The chat: opens it, and draws it again when its session changes. Other features use only `require('tark.chat')`.
local shown_session = require('tark.chat.shown_session')
local state = require('tark.state')

local M = {}

local EDITS = 'Edits an earlier prompt, in a new session (empty the prompt to cancel)'

---Loads the rest of the chat when it is first opened. These modules set up its buffers (buffers.lua: `on_created`).
---@return table panel
local function panel()
  require('tark.chat.prompt')
  require('tark.chat.send')
  require('tark.chat.keymaps')
  return require('tark.chat.panel')
end

---@param options? tark.ShowOptions
function M.show(options)
  panel().show(options)
end

function M.toggle()
  panel().toggle()
end

---The windows of the chat follow the answer from now on, wherever the user has scrolled them.
function M.scroll_to_end()
  if shown_session.was_opened then
    require('tark.chat.view').scroll_to_end()
  end
end

---Puts a prompt back into the prompt of the chat, above what was typed since.
---@param text string
function M.restore_prompt(text)
  require('tark.chat.prompt').restore_text(text)
end

---Attaches an image to the next prompt, and shows the chat, which says above its prompt what is attached. Does not move
---the focus.
---@param image table as in `context` of docs/protocol.md
function M.add_image(image)
  panel().show()
  require('tark.chat.images').add({ image })
end

---@return integer number of images that were removed from the next prompt
function M.drop_images()
  local dropped = shown_session.was_opened and require('tark.chat.images').take() or {}
  shown_session.emit_changed()
  return #dropped
end

local function refresh()
  if not shown_session.was_opened then
    return
  end
  local view, send = require('tark.chat.view'), require('tark.chat.send')
  local server_state = shown_session.state()
  local _, transcript = state.current_session(server_state)
  view.show(require('tark.chat.buffers').transcript(), transcript.sessionId and transcript or nil, send.sending_turns)
  view.mark_stale()
  if #view.windows() > 0 then
    local notice = require('tark.chat.images').notice()
    require('tark.chat.winbar').draw(server_state, send.is_edit() and EDITS or notice)
  end
end

shown_session.on('changed', refresh)

state.on('update', function(server_state, params, change)
  local is_shown = server_state == shown_session.state() and params.sessionId == server_state.session_id
  if shown_session.was_opened and is_shown and change then
    require('tark.chat.view').mark_stale(change.turn, change.block)
    if change.kind ~= 'text' then
      refresh()
    end
  end
end)

for _, event in ipairs({ 'session', 'permission', 'input' }) do
  state.on(event, function(server_state)
    if server_state == shown_session.state() then
      refresh()
    end
  end)
end

state.on('server', function(server_state, event)
  if server_state == shown_session.state() then
    if event == 'started' then
      shown_session.show_state(server_state)
    end
    refresh()
  end
end)

return M
