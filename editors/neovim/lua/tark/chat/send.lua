---Sends the user's prompts: as a new turn, to the running turn, or in place of an earlier prompt. The transcript shows
---a prompt at once. If the server refuses the prompt, it comes back to the prompt window.
local buffers = require('tark.chat.buffers')
local images = require('tark.chat.images')
local notify = require('tark.notify')
local prompt = require('tark.chat.prompt')
local requests = require('tark.server.requests')
local send_queue = require('tark.state.send_queue')
local session_loader = require('tark.state.session_loader')
local sessions = require('tark.state.sessions')
local shown_session = require('tark.chat.shown_session')
local state = require('tark.state')
local unsent_text = require('tark.chat.unsent_text')
local updates = require('tark.state.updates')
local view = require('tark.chat.view')
local visible = require('tark.visible')
local workspace = require('tark.workspace')

local M = {}

---@class tark.ChatPrompt
---@field text string
---@field turn tark.Turn is shown until the server has accepted it
---@field steers? string id of the running turn that gets the prompt
---@field replaces? tark.EarlierPrompt
---@field images table[] that were pasted

---@alias tark.EarlierPrompt { session_id: string, turn_id: string }

M.sending_turns = {} ---@type tark.Turn[] that the server has not accepted yet, for the view

local replaces ---@type tark.EarlierPrompt? the earlier prompt that the text in the prompt window replaces
local count = 0

---@param server_state? tark.State
---@param turn_state string
---@return tark.Turn? turn of the session that is shown
local function find_turn(server_state, turn_state)
  local _, transcript = state.current_session(server_state)
  for _, turn in ipairs(transcript.turns) do
    if turn.state == turn_state then
      return turn
    end
  end
end

---@param client vim.lsp.Client
---@return lsp.VersionedTextDocumentIdentifier? the file the user works on
local function current_document(client)
  local file = workspace.file_buffer()
  if file and client.attached_buffers[file] then
    return { uri = vim.uri_from_bufnr(file), version = vim.lsp.util.buf_versions[file] }
  end
end

---@alias tark.PromptSender
---| fun(sent: tark.ChatPrompt, server_state: tark.State, client: vim.lsp.Client, done: fun(problem?: string))

---@type tark.PromptSender
local function start_turn(sent, _, client, done)
  local params = { prompt = sent.text, textDocument = current_document(client) }
  params.context = #sent.images > 0 and sent.images or nil
  send_queue.start_turn(client, params, done)
end

---@type tark.PromptSender
local function steer_turn(sent, server_state, client, done)
  local session_id, argument = server_state.session_id, { turnId = sent.steers, prompt = sent.text }
  requests.send_command(client, 'tark.turn.steer', argument, function(problem, answer)
    if problem or not answer.accepted or not session_id then
      return done(problem or 'the turn is over: send it as a new prompt')
    end
    updates.steer_accepted(server_state, session_id, sent.steers, sent.text)
    done()
  end)
end

---@type tark.PromptSender
local function replace_turn(sent, server_state, client, done)
  local former = sent.replaces ---@cast former -nil
  session_loader.create_session_before(server_state, former.session_id, former.turn_id, function(problem, session_id)
    if problem then
      return done(problem)
    end
    sessions.select_session(server_state, session_id)
    start_turn(sent, server_state, client, done)
  end)
end

---@param sent tark.ChatPrompt
---@param problem? string nil: the server accepted it
local function finish_sending(sent, problem)
  M.sending_turns = vim.tbl_filter(function(turn)
    return turn ~= sent.turn
  end, M.sending_turns)
  if problem then
    replaces = sent.replaces or replaces
    prompt.restore_text(sent.text)
    images.add(sent.images)
    notify.warn(('not sent: %s. Your text is in the prompt'):format(problem))
  end
  shown_session.emit_changed()
end

---@param text string
---@return tark.Turn
local function new_turn(text)
  count = count + 1
  local turn = { turnId = 'sending' .. count, prompt = text, state = 'sending', blocks = {}, calls = {}, seq = 0 }
  turn.gap, turn.listed = false, false
  return turn
end

---@param steers? string id of a running turn
local function send_prompt(steers)
  local text = visible.trim(prompt.text())
  if text == '' then
    return
  end
  local turn = new_turn(text)
  local sent = { text = text, turn = turn, steers = steers, replaces = replaces, images = {} } ---@type tark.ChatPrompt
  sent.images = steers and {} or images.take() -- the running turn takes only text
  table.insert(M.sending_turns, sent.turn)
  replaces = nil
  prompt.add_to_history(text)
  prompt.set_text('')
  shown_session.emit_changed()
  view.scroll_to_end()
  shown_session.ensure_client(function(problem, client)
    if not client then
      return finish_sending(sent, problem or 'no server is running')
    end
    send_queue.enqueue(client, function(done)
      local sender = sent.steers and steer_turn or sent.replaces and replace_turn or start_turn
      sender(sent, state.of_client(client.id), client, function(refusal)
        vim.schedule(done) -- also if showing it fails
        finish_sending(sent, refusal)
      end)
    end)
  end)
end

---Sends the prompt as a turn, which waits while others run.
function M.send()
  send_prompt()
end

---Sends the prompt to the running turn, which reads it after its next tool results. If no turn runs, starts a turn.
function M.steer()
  local turn = not replaces and find_turn(shown_session.state(), 'running')
  send_prompt(turn and turn.turnId or nil)
end

---Puts the turn's prompt into the prompt window. What is sent from there replaces the turn, in a new session.
---@param turn tark.Turn
function M.edit(turn)
  local server_state = shown_session.state()
  if not server_state or not server_state.session_id or turn.state == 'sending' or turn.state == 'queued' then
    return notify.warn('this prompt has not been accepted yet')
  end
  local typed = prompt.text()
  if typed:find('%S') then
    prompt.add_to_history(typed)
  end
  prompt.set_text(turn.prompt)
  replaces = { session_id = server_state.session_id, turn_id = turn.turnId }
  shown_session.emit_changed()
end

---@return boolean is the text in the prompt an edited earlier prompt?
function M.is_edit()
  return replaces ~= nil
end

---Cancels the running turn, or the first one that waits if none runs.
function M.cancel()
  local server_state, client = shown_session.state(), shown_session.client()
  local turn = find_turn(server_state, 'running') or find_turn(server_state, 'queued')
  if client and turn then
    requests.send_command(client, 'tark.turn.cancel', { turnId = turn.turnId })
  else
    notify.info('nothing is running')
  end
end

prompt.on_emptied(function()
  if replaces then
    replaces = nil
    shown_session.emit_changed()
  end
end)

buffers.on_created(function(_, part)
  if part ~= 'prompt' then
    return
  end
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = vim.api.nvim_create_augroup('tark_chat_prompt', {}),
    callback = function()
      local texts = vim.tbl_map(function(turn)
        return turn.prompt
      end, M.sending_turns)
      pcall(unsent_text.keep_texts, vim.list_extend(texts, { prompt.text() }))
    end,
  })
end)

return M
