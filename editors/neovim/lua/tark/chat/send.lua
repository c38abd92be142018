---What the person says goes out from here: as a turn, to the turn that runs, or in place of an earlier prompt.
---It shows in the transcript at once, and comes back to the prompt where it is not taken.
local prompt = require('tark.chat.prompt')
local state = require('tark.state')

local M = {}

---@class tark.ChatPrompt
---@field words string
---@field turn tark.Turn as it is shown until the server has it
---@field steers? string the running turn it is said to
---@field instead? { session_id: string, turn_id: string } an earlier prompt

M.outbox = {} ---@type tark.Turn[] for the view

local instead ---@type { session_id: string, turn_id: string }? what the prompt's text is sent in place of
local count = 0

---@param known? tark.State
---@return tark.Turn? turn the running one of the session that is shown
function M.running(known)
  local _, transcript = state.current(known)
  for _, turn in ipairs(transcript.turns) do
    if turn.state == 'running' then
      return turn
    end
  end
end

local function redraw()
  require('tark.chat').refresh()
end

---@param client vim.lsp.Client
---@return lsp.VersionedTextDocumentIdentifier? the file the person is at
local function document(client)
  local file = require('tark.workspace').file_buffer()
  if file and client.attached_buffers[file] then
    return { uri = vim.uri_from_bufnr(file), version = vim.lsp.util.buf_versions[file] }
  end
end

---@alias tark.ChatWay
---| fun(sent: tark.ChatPrompt, known: tark.State, client: vim.lsp.Client, done: fun(problem?: string))

---@type tark.ChatWay
local function start(sent, _, client, done)
  require('tark.outbox').start(client, { prompt = sent.words, textDocument = document(client) }, done)
end

---@type tark.ChatWay
local function steer(sent, known, client, done)
  local session_id, argument = known.session_id, { turnId = sent.steers, prompt = sent.words }
  require('tark.server').command(client, 'tark.turn.steer', argument, function(problem, answer)
    if problem or not answer.accepted or not session_id then
      return done(problem or 'the turn is over: send it as a prompt of its own')
    end
    require('tark.updates').steered(known, session_id, sent.steers, sent.words)
    done()
  end)
end

---@type tark.ChatWay
local function resend(sent, known, client, done)
  local of = sent.instead ---@cast of -nil
  require('tark.sessions').before(known, of.session_id, of.turn_id, function(problem, session_id)
    if problem then
      return done(problem)
    end
    require('tark.updates').go_on_with(known, session_id)
    start(sent, known, client, done)
  end)
end

---@param sent tark.ChatPrompt
---@param problem? string nil: the server took it
local function over(sent, problem)
  M.outbox = vim.tbl_filter(function(turn)
    return turn ~= sent.turn
  end, M.outbox)
  if problem then
    instead = sent.instead or instead
    prompt.give_back(sent.words)
    require('tark.notify').warn(('not sent: %s. Your words are in the prompt'):format(problem))
  end
  redraw()
end

---@param steers? string a running turn
local function send(steers)
  local words = require('tark.visible').trim(prompt.text())
  if words == '' then
    return
  end
  count = count + 1
  local turn = { turnId = 'sending' .. count, prompt = words, state = 'sending', blocks = {}, calls = {}, seq = 0 }
  turn.gap, turn.listed = false, false
  local sent = { words = words, turn = turn, steers = steers, instead = instead } ---@type tark.ChatPrompt
  table.insert(M.outbox, turn)
  instead = nil
  prompt.remember(words)
  prompt.set('')
  redraw()
  require('tark.chat.view').to_end()
  require('tark.chat').client(function(problem, client)
    if not client then
      return over(sent, problem or 'there is no server')
    end
    require('tark.outbox').add(client, function(done)
      local way = sent.steers and steer or sent.instead and resend or start
      way(sent, state.of(client.id), client, function(refusal)
        vim.schedule(done) -- also if showing it fails
        over(sent, refusal)
      end)
    end)
  end)
end

---The prompt goes out, as a turn that may have to wait for others.
function M.send()
  send()
end

---The prompt is said to the turn that runs, after its next tool results; as a turn where none runs.
function M.steer()
  local turn = not instead and M.running(require('tark.chat').known())
  send(turn and turn.turnId or nil)
end

---The turn's prompt comes into the prompt window; what is sent then takes its place, in a session of its own.
---@param turn tark.Turn
function M.edit(turn)
  local known = require('tark.chat').known()
  if not known or not known.session_id or turn.state == 'sending' or turn.state == 'queued' then
    return require('tark.notify').warn('this prompt has not been taken yet')
  end
  local typed = prompt.text()
  if typed:find('%S') then
    prompt.remember(typed)
  end
  prompt.set(turn.prompt)
  instead = { session_id = known.session_id, turn_id = turn.turnId }
  redraw()
end

---Is what is in the prompt an earlier one that is edited?
---@return boolean
function M.is_edit()
  return instead ~= nil
end

---Who empties the prompt gives that up.
function M.emptied()
  if instead then
    instead = nil
    redraw()
  end
end

---Cancels the turn that runs, else the one that waits.
function M.cancel()
  local known = require('tark.chat').known()
  local client = known and require('tark.server').of(known)
  local turn = M.running(known)
  local _, transcript = state.current(known)
  for _, each in ipairs(transcript.turns) do
    turn = turn or each.state == 'queued' and each or nil
  end
  if client and turn then
    require('tark.server').command(client, 'tark.turn.cancel', { turnId = turn.turnId })
  else
    require('tark.notify').say('nothing runs')
  end
end

return M
