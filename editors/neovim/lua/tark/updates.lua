---All that changes the state enters it here, and nowhere else: what the server tells, and what the person chose.
local state = require('tark.state')
local transcript = require('tark.transcript')

local M = {}

local EVENTS = { permissions = 'permission', inputs = 'input' }

---@param known tark.State
---@param session_id string
---@return tark.Transcript
local function talk_of(known, session_id)
  known.transcripts[session_id] = known.transcripts[session_id] or transcript.new(session_id)
  return known.transcripts[session_id]
end

---What was made by a change in the transcript and not by an update of the server's.
---@param known tark.State
---@param talk tark.Transcript
---@param change tark.Change
local function tell(known, talk, change)
  local turn_id = change.turn.turnId
  state.emit(
    'update',
    known,
    { sessionId = talk.sessionId, turnId = turn_id, seq = 0, update = { kind = 'own' } },
    change
  )
end

---@param params tark.UpdateParams
---@param client_id integer
function M.received(params, client_id)
  local known = state.of(client_id)
  local update = params.update
  if update.kind == 'hunks' then
    M.hunks(known, update)
  end
  if params.sessionId == '' then
    return -- hunks of a session that was deleted
  end
  local talk = talk_of(known, params.sessionId)
  local change = transcript.reduce(talk, params)
  if change then
    change.turn.began = change.turn.began or vim.uv.now()
  end
  state.emit('update', known, params, change)
  if change and change.turn.gap and not talk.reloading then
    talk.reloading = true -- another one takes its place, or the person is told once that none does
    require('tark.sessions').reload(known, params.sessionId)
  end
end

---The server took a turn: it is seen before its first update, which comes when those before it are over, and what the
---person says next goes on with its session.
---@param known tark.State
---@param session_id? string the session it was sent for; nil: it begins one
---@param answer { sessionId: string, turnId: string }
---@param prompt string
function M.asked(known, session_id, answer, prompt)
  local talk = talk_of(known, answer.sessionId)
  talk.complete = talk.complete or not session_id
  local change = transcript.asked(talk, answer.turnId, prompt)
  if change then
    change.turn.began = vim.uv.now()
    tell(known, talk, change)
  end
  if known.session_id == session_id and session_id ~= answer.sessionId then -- else another was chosen meanwhile
    M.go_on_with(known, answer.sessionId)
  end
end

---The running turn took what the person said to it.
---@param known tark.State
---@param session_id string
---@param turn_id string
---@param words string
function M.steered(known, session_id, turn_id, words)
  local talk = talk_of(known, session_id)
  tell(known, talk, transcript.steered(talk, turn_id, words))
end

---@param known tark.State
---@param session_id? string nil: the next turn begins a new one
function M.go_on_with(known, session_id)
  known.session_id = session_id
  state.emit('session', known, session_id)
end

---@param session table
---@param client_id integer
function M.session(session, client_id)
  local known = state.of(client_id)
  known.sessions[session.sessionId] = session
  state.emit('session', known, session.sessionId)
end

---What is told while a stored session comes has higher numbers than it, and goes on from there.
---@param known tark.State
---@param opened table the answer of `tark.session.open`
---@param last integer how many messages were asked for
function M.opened(known, opened, last)
  local session_id = opened.sessionId
  local former = known.transcripts[session_id] or { byId = {} }
  local talk = require('tark.stored_session').transcript(opened)
  talk.complete, talk.last = true, last
  for turn_id, turn in pairs(talk.byId) do
    turn.began = (former.byId[turn_id] or {}).began or vim.uv.now()
  end
  known.transcripts[session_id] = talk
  opened.messages, opened.turns = nil, nil
  M.set(known, session_id, opened)
end

---@param known tark.State
---@param session_id? string nil: of new sessions
---@param values table settings, or other fields of `tark/session`
function M.set(known, session_id, values)
  if session_id then
    known.sessions[session_id] = vim.tbl_extend('force', known.sessions[session_id] or {}, values)
  else
    known.settings = vim.tbl_extend('force', known.settings, values)
  end
  state.emit('session', known, session_id)
end

---A session was deleted.
---@param known tark.State
---@param session_id string
function M.forgotten(known, session_id)
  known.sessions[session_id], known.transcripts[session_id] = nil, nil
  if known.session_id == session_id then
    known.session_id = nil
  end
  state.emit('session', known, known.session_id)
end

local UNDECIDED = { pending = true, conflict = true, stale = true }

---All hunks of a document, also those decided long ago. One that is told of under another name has left the former:
---its file was moved, or opened by another path.
---@param known tark.State
---@param told tark.DocumentHunks
function M.hunks(known, told)
  told.uri = require('tark.workspace').normal(told.uri)
  local ids = {} ---@type table<string, boolean>
  local undecided = {} ---@type tark.Hunk[]
  for _, hunk in ipairs(told.hunks) do
    ids[hunk.hunkId] = true
    if UNDECIDED[hunk.state] then
      table.insert(undecided, hunk)
    end
  end
  for uri, others in pairs(known.hunks) do
    local left = vim.tbl_filter(function(hunk)
      return not ids[hunk.hunkId]
    end, others.hunks)
    if uri ~= told.uri and #left < #others.hunks then
      known.hunks[uri] = #left > 0 and { uri = uri, version = others.version, hunks = left } or nil
      state.emit('hunks', known, uri)
    end
  end
  require('tark.waiting').hunks_told(known, told.hunks)
  known.hunks[told.uri] = #undecided > 0 and { uri = told.uri, version = told.version, hunks = undecided } or nil
  state.emit('hunks', known, told.uri)
end

---All hunks there are, by `tark.hunk.list`.
---@param known tark.State
---@param hunks table[] each with its `uri` and `version`
function M.all_hunks(known, hunks)
  local documents = {} ---@type table<string, tark.DocumentHunks>
  for uri in pairs(known.hunks) do
    documents[uri] = { uri = uri, hunks = {} }
  end
  for _, hunk in ipairs(hunks) do
    local uri = require('tark.workspace').normal(hunk.uri)
    documents[uri] = documents[uri] or { uri = uri, hunks = {} }
    documents[uri].version = hunk.version
    table.insert(documents[uri].hunks, hunk)
  end
  for _, told in pairs(documents) do
    M.hunks(known, told)
  end
end

---Something waits for the person; asked anew, it takes the place of what it was.
---@param known tark.State
---@param kind 'permissions'|'inputs'
---@param request tark.Permission|tark.Input
function M.waits(known, kind, request)
  local list, place = known[kind], nil
  for index, each in ipairs(list) do
    place = each.requestId == request.requestId and index or place
  end
  list[place or #list + 1] = request
  state.emit(EVENTS[kind], known)
end

---@param known tark.State
---@param kind 'permissions'|'inputs'
---@param waits fun(request: table): boolean does it still?
function M.keep_waiting(known, kind, waits)
  local left = vim.tbl_filter(waits, known[kind])
  if #left < #known[kind] then
    known[kind] = left
    state.emit(EVENTS[kind], known)
  end
end

---Work-done progress.
---@param known tark.State
---@param token string|integer
---@param value { kind: string, title?: string, message?: string }
function M.progressed(known, token, value)
  local over = value.kind == 'end'
  known.tokens[token] = not over or nil
  known.activity = over and '' or value.message or known.activity
  state.emit('progress', known)
end

---How things stand, by `tark.state`.
---@param known tark.State
---@param told table
function M.refreshed(known, told)
  known.prompts, known.settings = told.prompts or {}, told.settings or {}
  known.permissions, known.inputs = told.permissions or {}, told.inputs or {}
  for _, session in ipairs(told.sessions or {}) do
    known.sessions[session.sessionId] = vim.tbl_extend('force', known.sessions[session.sessionId] or {}, session)
  end
  state.emit('permission', known)
  state.emit('input', known)
  state.emit('session', known)
end

---The server is gone: what it did is over, and nothing waits for the person any more. Its hunks are told of anew by
---the next one.
---@param known tark.State
---@return integer turns that were cut
function M.ended(known)
  local turns = 0
  known.alive = false
  for session_id, talk in pairs(known.transcripts) do
    for _, turn in ipairs(transcript.interrupted(talk)) do
      turns = turns + 1
      local update = { kind = 'end', stopReason = turn.stopReason, error = turn.error, text = '', edits = {} }
      local params = { sessionId = session_id, turnId = turn.turnId, seq = turn.seq, update = update }
      state.emit('update', known, params, { turn = turn, kind = 'turn' })
    end
  end
  known.permissions, known.inputs = {}, {}
  known.tokens, known.activity = {}, ''
  state.emit('permission', known)
  state.emit('input', known)
  local hunks = known.hunks
  known.hunks = {}
  for uri in pairs(hunks) do
    state.emit('hunks', known, uri)
  end
  state.emit('server', known, 'ended')
  return turns
end

return M
