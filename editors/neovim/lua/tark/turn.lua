---Turns of the commands: the words, and the place they are about; none of the words is ever lost.
local notify = require('tark.notify')

local M = {}

---@class tark.TurnOptions
---@field prompt? string
---@field range? tark.Range nil: the selection in visual mode, else the cursor

---@class tark.Start a turn that the server has not taken yet
---@field kind string
---@field prompt string
---@field place tark.Place

local NEEDS_PROMPT = { agent = true, ask = true, edit = true }
local COMMANDS = { agent = 'Tark' } -- else Tark and the kind

local kept = {} ---@type table<string, string> by kind: the words of the last start that the server has not taken

---@param start tark.Start
---@return string
local function command_name(start)
  return COMMANDS[start.kind] or 'Tark' .. start.kind:sub(1, 1):upper() .. start.kind:sub(2)
end

---@param start tark.Start
---@param problem string
local function refused(start, problem)
  start.place:forget()
  local name = command_name(start)
  if start.prompt == '' then
    return notify.warn(('not started: %s'):format(problem))
  end
  if not start.prompt:find('\n') then
    vim.fn.histadd('cmd', vim.trim(('%s%s %s'):format(start.place.address, name, start.prompt)))
  end
  notify.warn(('not started: %s. Your words are kept for :%s'):format(problem, name))
end

---@param client vim.lsp.Client
---@param start tark.Start
---@return table? params
---@return string? problem
local function parameters(client, start)
  local params = { prompt = start.prompt, kind = start.kind }
  local place = start.place
  if not require('tark.workspace').is_file(place.bufnr) then -- a help page, a list, the chat, what has no name yet
    if start.kind == 'edit' then
      return nil, 'only a file can be changed, and this is none'
    end
    params.context = place.words ~= '' and { { type = 'text', name = 'the selection', text = place:text() } } or nil
    return params
  end
  params.textDocument = {
    uri = vim.uri_from_bufnr(place.bufnr),
    version = client.attached_buffers[place.bufnr] and vim.lsp.util.buf_versions[place.bufnr] or nil,
  }
  -- A cursor means the definition around it, which only matters where something is pointed at.
  local points = place.words ~= '' or not (start.kind == 'agent' or start.kind == 'ask') or start.prompt:find('^%s*/%w')
  if points then
    params.range = place:range(client.offset_encoding)
    if not params.range then
      return nil, 'what you selected is not there any more'
    end
  end
  return params
end

---@param start tark.Start
---@param answer { queued?: integer }
local function taken(start, answer)
  start.place:forget()
  if kept[start.kind] == start.prompt then
    kept[start.kind] = nil
  end
  if answer.queued then
    notify.say(('queued behind %d other turn%s'):format(answer.queued, answer.queued == 1 and '' or 's'))
  end
  if require('tark.config').get().chat.opens_for[start.kind] then
    require('tark.chat').show({ focus = false })
  end
end

---@param client vim.lsp.Client
---@param start tark.Start
---@param done fun()
local function send(client, start, done)
  local params, problem = parameters(client, start)
  if not params then
    refused(start, problem or '')
    return done()
  end
  require('tark.outbox').start(client, params, function(refusal, answer)
    vim.schedule(done) -- also if showing it fails
    if answer then
      taken(start, answer)
    else
      refused(start, refusal or '')
    end
  end)
end

---@param start tark.Start
local function begin(start)
  if start.prompt ~= '' then
    kept[start.kind] = start.prompt
  end
  require('tark.server').ensure(start.place.bufnr, function(problem, client)
    if not client then
      return refused(start, problem or 'there is no server')
    end
    require('tark.outbox').add(client, function(done)
      send(client, start, done)
    end)
  end)
end

---@param kind string of docs/protocol.md: agent, ask, edit, explain, fix, test, document
---@param options? tark.TurnOptions
function M.start(kind, options)
  options = options or {}
  local place = require('tark.places').here(options.range)
  local start = { kind = kind, prompt = vim.trim(options.prompt or ''), place = place }
  if start.prompt ~= '' or not NEEDS_PROMPT[kind] then
    return begin(start)
  end
  local title = kind == 'agent' and 'Tark' or 'Tark ' .. kind
  vim.ui.input({
    prompt = place.words == '' and title .. ': ' or ('%s (%s): '):format(title, place.words),
    default = kept[kind],
    completion = "customlist,v:lua.require'tark.completion'.of_prompt",
  }, function(typed)
    start.prompt = vim.trim(typed or '')
    if start.prompt == '' then
      return place:forget()
    end
    begin(start)
  end)
end

return M
