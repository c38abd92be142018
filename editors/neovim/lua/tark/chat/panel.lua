---Opens and closes the chat, and goes to its prompt.
local clients = require('tark.server.clients')
local config = require('tark.config')
local layout = require('tark.chat.layout')
local notify = require('tark.notify')
local shown_session = require('tark.chat.shown_session')
local state = require('tark.state')
local view = require('tark.chat.view')

local M = {}

---@class tark.ShowOptions
---@field focus? boolean go to the prompt

---Shows the session of the current buffer's server. In the chat itself the session stays.
local function choose_state()
  local in_chat = layout.part(vim.api.nvim_get_current_win())
  local client = not (in_chat and shown_session.state()) and clients.for_buffer()
  return client and state.of_client(client.id) or shown_session.state()
end

---@param options? tark.ShowOptions
function M.show(options)
  options = options or {}
  if vim.fn.getcmdwintype() ~= '' then -- no window can be opened from the command-line window
    return
  end
  local server_state = choose_state()
  local is_new = not layout.window('transcript')
  local ok, problem = pcall(layout.open)
  shown_session.was_opened = true
  if not ok then
    return notify.warn('the chat has no room here: ' .. tostring(problem))
  end
  if server_state then
    shown_session.show_state(server_state)
  else
    shown_session.ensure_client(function(failed)
      if failed then
        notify.warn(failed)
      end
    end)
  end
  shown_session.emit_changed()
  if is_new then
    view.draw()
    view.scroll_to_end()
  end
  if options.focus then
    M.focus_prompt()
  end
end

---Closes the chat in this tab page. The prompt's text stays.
function M.hide()
  layout.close()
end

---Goes to the prompt, and opens the chat if necessary. In the chat itself: closes it.
function M.toggle()
  if layout.part(vim.api.nvim_get_current_win()) then
    return M.hide()
  end
  M.show({ focus = true })
  local is_prompt = layout.part(vim.api.nvim_get_current_win()) == 'prompt'
  local is_empty = vim.fn.line('$') == 1 and vim.fn.getline(1) == ''
  if is_prompt and is_empty and config.get().chat.start_insert then
    vim.cmd.startinsert()
  end
end

---Opens the chat if it is not open.
function M.focus_prompt()
  local window = layout.window('prompt')
  if window then
    vim.api.nvim_set_current_win(window)
  else
    M.show({ focus = true })
  end
end

return M
