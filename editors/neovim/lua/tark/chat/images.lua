---The images that are attached to the next prompt of the chat, and whether its model sees images. The server itself
---reads images that the prompt mentions.
local figures = require('tark.figures')
local notify = require('tark.notify')
local prompt = require('tark.chat.prompt')
local requests = require('tark.server.requests')
local shown_session = require('tark.chat.shown_session')
local state = require('tark.state')

local M = {}

local ENDINGS = { png = true, jpg = true, jpeg = true, gif = true, webp = true } -- docs/chat.md
local BLIND = '%s does not see images. Choose another model (:TarkModel), or the images are left out'

local told = '' -- the last notice
local pasted = {} ---@type table[] as in `context` of docs/protocol.md
local seen_by = {} ---@type table<string, boolean|'unknown'> by model; only models that the server was asked about

---@param images table[]
function M.add(images)
  vim.list_extend(pasted, images)
  shown_session.emit_changed()
end

---@return table[] images that were attached; they no longer are
function M.take()
  local taken = pasted
  pasted = {}
  return taken
end

---@param text string
---@return boolean
local function mentions_image(text)
  for quote, rest in text:gmatch('@file:("?)([^\n]*)') do
    local name = rest:match(quote == '"' and '^[^"]+' or '^%S+') or ''
    if ENDINGS[name:lower():match('%.(%a+)%W*$')] then
      return true
    end
  end
  return false
end

---Asks the server which models of the provider see images.
---@param client vim.lsp.Client
---@param model string
local function ask_for_sight(client, model)
  seen_by[model] = 'unknown'
  requests.send_command(client, 'tark.models.list', { provider = model:match('^[^/]+') }, function(_, answer)
    for _, listed in ipairs(answer and answer.models or {}) do
      seen_by[listed.id] = listed.images ~= false
    end
    if seen_by[model] == false then
      notify.warn(BLIND:format(model))
    end
    shown_session.emit_changed()
  end)
end

---@return string
local function notice()
  if #pasted == 0 and not mentions_image(prompt.text()) then
    return ''
  end
  local client, server_state = shown_session.client(), shown_session.state()
  local model = server_state and (state.current_session(server_state).model or server_state.settings.model)
  if client and type(model) == 'string' and seen_by[model] == nil then
    ask_for_sight(client, model)
  end
  local count = #pasted > 0
    and ('+ %s with the next prompt (:TarkPaste! drops)'):format(figures.counted(#pasted, 'image'))
  return model and seen_by[model] == false and BLIND:format(model) or count or ''
end

---What the user should know about the images before the prompt is sent.
---@return string line, empty if there is nothing to say
function M.notice()
  told = notice()
  return told
end

prompt.on_changed(function()
  if notice() ~= told then
    shown_session.emit_changed()
  end
end)

shown_session.on('server', function()
  seen_by = {}
end)

return M
