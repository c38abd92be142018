---What the server tells of turns enters the state here, and nowhere else.
local state = require('tark.state')
local transcript = require('tark.transcript')

local M = {}

local reloading = {} ---@type table<string, true> sessions that are asked for, since an update of theirs is missing

---An update got lost: the session is drawn from what is stored of it.
---@param known tark.State
---@param session_id string
local function reload(known, session_id)
  local client = require('tark.server').of(known)
  if client and not reloading[session_id] then
    reloading[session_id] = true
    vim.defer_fn(function()
      reloading[session_id] = nil
    end, 1000)
    require('tark.sessions').reload(client, session_id)
  end
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
  local talk = known.transcripts[params.sessionId] or transcript.new(params.sessionId)
  known.transcripts[params.sessionId] = talk
  local change = transcript.reduce(talk, params)
  state.emit('update', known, params, change)
  if change and change.turn.gap then
    reload(known, params.sessionId)
  end
end

---The server took a turn: it is seen before its first update, which comes when those before it are over.
---@param known tark.State
---@param answer { sessionId: string, turnId: string }
---@param prompt string
function M.asked(known, answer, prompt)
  local talk = known.transcripts[answer.sessionId] or transcript.new(answer.sessionId)
  known.transcripts[answer.sessionId] = talk
  local change = transcript.asked(talk, answer.turnId, prompt)
  if change then
    local params = { sessionId = answer.sessionId, turnId = answer.turnId, seq = 0, update = { kind = 'asked' } }
    state.emit('update', known, params, change)
  end
end

local UNDECIDED = { pending = true, conflict = true, stale = true }

---All hunks of a document, also those decided long ago. One that is told of under another name has left the former:
---its file was moved, or opened by another path.
---@param known tark.State
---@param told tark.DocumentHunks
function M.hunks(known, told)
  told.uri = state.normal(told.uri)
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
    local uri = state.normal(hunk.uri)
    documents[uri] = documents[uri] or { uri = uri, hunks = {} }
    documents[uri].version = hunk.version
    table.insert(documents[uri].hunks, hunk)
  end
  for _, told in pairs(documents) do
    M.hunks(known, told)
  end
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
function M.interrupted(known)
  local turns = 0
  for session_id, talk in pairs(known.transcripts) do
    for _, turn in ipairs(transcript.interrupted(talk)) do
      turns = turns + 1
      local update = { kind = 'end', stopReason = turn.stopReason, error = turn.error, text = '', edits = {} }
      local params = { sessionId = session_id, turnId = turn.turnId, seq = turn.seq, update = update }
      state.emit('update', known, params, { turn = turn, kind = 'turn' })
    end
  end
  known.permissions, known.inputs = {}, {}
  state.emit('permission', known)
  state.emit('input', known)
  local hunks = known.hunks
  known.hunks = {}
  for uri in pairs(hunks) do
    state.emit('hunks', known, uri)
  end
  return turns
end

---@param session table
---@param client_id integer
function M.session(session, client_id)
  local known = state.of(client_id)
  known.sessions[session.sessionId] = session
  state.emit('session', known, session.sessionId)
end

return M
