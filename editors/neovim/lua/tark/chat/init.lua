---The chat: which session is shown, and when it is drawn. `require('tark.chat')` is all that others use of it.
local state = require('tark.state')

local M = {}

local shown ---@type tark.State? whose current session is shown
local opened = false -- has a window of it ever been open?

---@return tark.State? of the server whose session is shown
function M.known()
  return shown
end

---What is shown may be something else now.
function M.refresh()
  if not opened then
    return
  end
  local view, buffers, send = require('tark.chat.view'), require('tark.chat.buffers'), require('tark.chat.send')
  local _, transcript = state.current(shown)
  view.show(buffers.transcript(), transcript.sessionId and transcript or nil, send.outbox)
  view.touch()
  if #view.windows() > 0 then
    require('tark.chat.winbar').draw(shown, send.is_edit())
  end
end

---@param known tark.State
local function take(known)
  shown = known
  M.reattach()
  if known.session_id and known.alive then
    require('tark.sessions').open(known, known.session_id, function(problem)
      if problem then
        require('tark.notify').warn(problem)
      end
      M.refresh()
    end)
  end
end

---The prompt is completed by the server whose session is shown.
function M.reattach()
  require('tark.chat.prompt').attach(shown and require('tark.server').of(shown))
end

---The client of what is shown; a server is started where there is none.
---@param done fun(problem?: string, client?: vim.lsp.Client)
function M.client(done)
  local server = require('tark.server')
  local running = shown and server.of(shown)
  if running then
    return done(nil, running)
  end
  server.ensure(nil, function(problem, client)
    if client and shown ~= state.of(client.id) then
      take(state.of(client.id))
      M.refresh()
    end
    done(problem, client)
  end)
end

---@class tark.ShowOptions
---@field focus? boolean go to the prompt

---@param options? tark.ShowOptions
function M.show(options)
  options = options or {}
  local layout, view = require('tark.chat.layout'), require('tark.chat.view')
  if vim.fn.getcmdwintype() ~= '' then -- no window can be opened from there
    return
  end
  local in_chat = layout.part(vim.api.nvim_get_current_win())
  local client = not (in_chat and shown) and require('tark.server').client()
  local known = client and state.of(client.id) or shown
  local fresh = not layout.window('transcript')
  local ok, problem = pcall(layout.open)
  opened = true
  if not ok then
    return require('tark.notify').warn('the chat has no room here: ' .. tostring(problem))
  end
  if known then
    take(known)
  else
    M.client(function(failed)
      if failed then
        require('tark.notify').warn(failed)
      end
    end)
  end
  M.refresh()
  if fresh then
    view.draw()
    view.to_end()
  end
  if options.focus then
    M.focus_prompt()
  end
end

---Closes it in this tabpage. The prompt's text stays.
function M.hide()
  require('tark.chat.layout').close()
end

---Goes to the prompt, and opens the chat for that; from the chat itself: closes it.
function M.toggle()
  if require('tark.chat.layout').part(vim.api.nvim_get_current_win()) then
    M.hide()
  else
    M.show({ focus = true })
  end
end

---Opens it where it is not open.
function M.focus_prompt()
  local window = require('tark.chat.layout').window('prompt')
  if window then
    vim.api.nvim_set_current_win(window)
  else
    M.show({ focus = true })
  end
end

state.on('update', function(known, params, change)
  if opened and known == shown and change and params.sessionId == known.session_id then
    require('tark.chat.view').touch(change.turn, change.block)
    if change.kind ~= 'text' then
      M.refresh()
    end
  end
end)

for _, event in ipairs({ 'session', 'permission', 'input' }) do
  state.on(event, function(known)
    if known == shown then
      M.refresh()
    end
  end)
end

state.on('server', function(known, event)
  if known == shown then
    if event == 'started' then
      take(known)
    end
    M.refresh()
  end
end)

require('tark.chat.layout').watch(vim.api.nvim_create_augroup('tark_chat', {}))

return M
