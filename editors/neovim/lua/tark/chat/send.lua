---What the person says goes out from here: as a turn, to the turn that runs, or in place of an earlier prompt.
---It shows in the transcript at once, and comes back to the prompt where it is not taken.
local prompt = require('tark.chat.prompt')
local state = require('tark.state')

local M = {}

---@class tark.Sending
---@field words string
---@field turn tark.Turn as it is shown until the server has it
---@field steers? string the running turn it is said to
---@field instead? { session_id: string, turn_id: string } an earlier prompt

M.outbox = {} ---@type tark.Turn[] for the view

local waiting = {} ---@type tark.Sending[] the first is on its way
local instead ---@type { session_id: string, turn_id: string }? what the prompt's text is sent in place of
local count = 0

---@return tark.Transcript?
local function transcript(known)
  return known and known.session_id and known.transcripts[known.session_id]
end

---@param known? tark.State
---@return tark.Turn? turn the running one of the session that is shown
function M.running(known)
  for _, turn in ipairs((transcript(known) or {}).turns or {}) do
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

---@param sending tark.Sending
---@param known tark.State
---@param client vim.lsp.Client
---@param done fun(problem?: string)
local function start(sending, known, client, done)
  local session_id = known.session_id
  local argument = { prompt = sending.words, sessionId = session_id, textDocument = document(client) }
  require('tark.server').command(client, 'tark.turn.start', argument, function(problem, answer)
    if problem then
      return done(problem)
    end
    require('tark.turn').taken(known, session_id, answer, sending.words)
    done()
  end)
end

---@param sending tark.Sending
---@param known tark.State
---@param client vim.lsp.Client
---@param done fun(problem?: string)
local function steer(sending, known, client, done)
  local argument = { turnId = sending.steers, prompt = sending.words }
  local talk = transcript(known)
  require('tark.server').command(client, 'tark.turn.steer', argument, function(problem, answer)
    if problem or not answer.accepted or not talk then
      return done(problem or 'the turn is over: send it as a prompt of its own')
    end
    local change = require('tark.transcript').steered(talk, sending.steers, sending.words)
    local params = { sessionId = talk.sessionId, turnId = sending.steers, seq = 0, update = { kind = 'asked' } }
    state.emit('update', known, params, change)
    done()
  end)
end

---@param sending tark.Sending
---@param known tark.State
---@param client vim.lsp.Client
---@param done fun(problem?: string)
local function resend(sending, known, client, done)
  local of = sending.instead ---@cast of -nil
  require('tark.sessions').before(known, of.session_id, of.turn_id, function(problem, session_id)
    if problem then
      return done(problem)
    end
    known.session_id = session_id
    state.emit('session', known, session_id)
    start(sending, known, client, done)
  end)
end

---One after the other, so that the second of two quick ones goes on with the session that the first begins.
local function send_next()
  local sending = waiting[1]
  if not sending then
    return
  end
  local function done(problem)
    table.remove(waiting, 1)
    for index, turn in ipairs(M.outbox) do
      if turn == sending.turn then
        table.remove(M.outbox, index)
        break
      end
    end
    if problem then
      instead = sending.instead or instead
      prompt.give_back(sending.words)
      require('tark.notify').warn(('not sent: %s. Your words are in the prompt'):format(problem))
    end
    redraw()
    send_next()
  end
  require('tark.chat').client(function(problem, client)
    if not client then
      return done(problem or 'there is no server')
    end
    local way = sending.steers and steer or sending.instead and resend or start
    way(sending, state.of(client.id), client, done)
  end)
end

---@param steers? string a running turn
local function send(steers)
  local words = vim.trim(prompt.text())
  if words == '' then
    return
  end
  count = count + 1
  local turn = { turnId = 'sending' .. count, prompt = words, state = 'sending', blocks = {}, seq = 0 }
  table.insert(waiting, { words = words, turn = turn, steers = steers, instead = instead })
  table.insert(M.outbox, turn)
  instead = nil
  prompt.remember(words)
  prompt.set('')
  redraw()
  require('tark.chat.view').to_end()
  if #waiting == 1 then
    send_next()
  end
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
  for _, each in ipairs((transcript(known) or {}).turns or {}) do
    turn = turn or each.state == 'queued' and each or nil
  end
  if client and turn then
    require('tark.server').command(client, 'tark.turn.cancel', { turnId = turn.turnId })
  else
    require('tark.notify').say('nothing runs')
  end
end

return M
