---Starts turns for commands, with a prompt and the place in the text that it is about. A prompt is never lost.
local config = require('tark.config')
local figures = require('tark.figures')
local lifecycle = require('tark.server.lifecycle')
local notify = require('tark.notify')
local send_queue = require('tark.state.send_queue')
local text_range = require('tark.text_range')
local unnamed_buffers = require('tark.commands.unnamed_buffers')
local visible = require('tark.visible')
local workspace = require('tark.workspace')

local M = {}

---@class tark.TurnOptions
---@field prompt? string
---@field range? tark.Range nil: the selection in visual mode, else the cursor
---@field on_prompt? fun(prompt: string) called with what the user typed

---@class tark.TurnStart a turn that the server has not accepted yet
---@field kind string
---@field prompt string
---@field range tark.TrackedRange

local NEEDS_PROMPT = { agent = true, ask = true, edit = true }
local BESIDE = { edit = true, fix = true, test = true, document = true } -- run beside a turn of the chat
local BLOCK = 'a block of columns cannot be sent: select characters (v) or lines (V)'
local COMMANDS = { agent = 'Tark' } -- the others: Tark and the kind

local refused_prompts = {} ---@type table<string, string> by kind: the last prompt that the server has not accepted

---@param start tark.TurnStart
---@return string
local function command_name(start)
  return COMMANDS[start.kind] or 'Tark' .. start.kind:sub(1, 1):upper() .. start.kind:sub(2)
end

---@param start tark.TurnStart
---@param problem string
local function turn_refused(start, problem)
  unnamed_buffers.turn_sent(start.range.bufnr)
  start.range:release()
  local name = command_name(start)
  if start.prompt == '' then
    return notify.warn(('not started: %s'):format(problem))
  end
  if not start.prompt:find('\n') then
    vim.fn.histadd('cmd', vim.trim(('%s%s %s'):format(start.range.address, name, start.prompt)))
  end
  notify.warn(('not started: %s. Your prompt is kept for :%s'):format(problem, name))
end

---@param client vim.lsp.Client
---@param start tark.TurnStart
---@return table? params
---@return string? problem
local function turn_params(client, start)
  local params = { prompt = start.prompt, kind = start.kind }
  local range = start.range
  if not workspace.is_file(range.bufnr) then -- a help page, a list, the chat, or a buffer without a name
    if start.kind == 'edit' then
      return nil, 'only a file can be changed, and this is not one'
    end
    params.context = range.label ~= '' and { { type = 'text', name = 'the selection', text = range:text() } } or nil
    return params
  end
  params.textDocument = {
    uri = vim.uri_from_bufnr(range.bufnr),
    version = client.attached_buffers[range.bufnr] and vim.lsp.util.buf_versions[range.bufnr] or nil,
  }
  -- A cursor means the definition around it. Agent and ask use it only if the prompt is a named one.
  local is_general = start.kind == 'agent' or start.kind == 'ask'
  if range.label ~= '' or not is_general or start.prompt:find('^%s*/%w') then
    params.range = range:to_lsp(client.offset_encoding)
    if not params.range then
      return nil, 'the text that you selected does not exist any more'
    end
  end
  return params
end

---@param start tark.TurnStart
---@param answer { queued?: integer }
local function turn_accepted(start, answer)
  unnamed_buffers.turn_sent(start.range.bufnr)
  start.range:release()
  if refused_prompts[start.kind] == start.prompt then
    refused_prompts[start.kind] = nil
  end
  if answer.queued then
    notify.info(('queued behind %s'):format(figures.counted(answer.queued, 'other turn')))
  end
  if config.get().chat.opens_for[start.kind] then
    require('tark.chat').show({ focus = false })
  end
  require('tark.chat').scroll_to_end()
end

---@param client vim.lsp.Client
---@param start tark.TurnStart
---@param done fun()
local function send_turn(client, start, done)
  local params, problem = turn_params(client, start)
  if not params then
    turn_refused(start, problem or '')
    return done()
  end
  local has_own_session = BESIDE[start.kind] and send_queue.is_busy(client)
  send_queue.start_turn(client, params, function(refusal, answer)
    vim.schedule(done) -- also if showing it fails
    if answer then
      turn_accepted(start, answer)
    else
      turn_refused(start, refusal or '')
    end
  end, has_own_session)
end

---@param start tark.TurnStart
local function enqueue_turn(start)
  if start.prompt ~= '' then
    refused_prompts[start.kind] = start.prompt
  end
  if start.range.is_block then
    return turn_refused(start, BLOCK)
  end
  if BESIDE[start.kind] then
    unnamed_buffers.before_turn(start.range.bufnr)
  end
  lifecycle.ensure_server(start.range.bufnr, function(problem, client)
    if not client then
      return turn_refused(start, problem or 'no server is running')
    end
    send_queue.enqueue(client, function(done)
      send_turn(client, start, done)
    end)
  end)
end

---@param kind string of docs/protocol.md: agent, ask, edit, explain, fix, test, document
---@param options? tark.TurnOptions
function M.start_turn(kind, options)
  options = options or {}
  local range = text_range.track(options.range)
  local start = { kind = kind, prompt = vim.trim(options.prompt or ''), range = range }
  if start.prompt ~= '' or not NEEDS_PROMPT[kind] or range.is_block then
    return enqueue_turn(start)
  end
  local title = kind == 'agent' and 'Tark' or 'Tark ' .. kind
  vim.ui.input({
    prompt = range.label == '' and title .. ': ' or ('%s (%s): '):format(title, visible.line(range.label)),
    default = refused_prompts[kind],
    completion = "customlist,v:lua.require'tark.commands.completion'.prompt_names",
  }, function(typed)
    start.prompt = vim.trim(typed or '')
    if start.prompt == '' then
      return range:release()
    end
    if options.on_prompt then
      options.on_prompt(start.prompt)
    end
    enqueue_turn(start)
  end)
end

return M
