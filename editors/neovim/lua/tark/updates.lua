---What the server tells of turns enters the state here, and nowhere else.
local state = require('tark.state')
local transcript = require('tark.transcript')

local M = {}

---@param params tark.UpdateParams
---@param client_id integer
function M.received(params, client_id)
  local known = state.of(client_id)
  local update = params.update
  if update.kind == 'hunks' then
    M.hunks(known, update)
  end
  known.transcripts[params.sessionId] = known.transcripts[params.sessionId] or transcript.new(params.sessionId)
  local change = transcript.reduce(known.transcripts[params.sessionId], params)
  state.emit('update', known, params, change)
end

local UNDECIDED = { pending = true, conflict = true, stale = true }

---All hunks of a document, also those decided long ago. One that is told of under another name has left the former:
---its file was moved, or opened by another path.
---@param known tark.State
---@param told tark.DocumentHunks
function M.hunks(known, told)
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
  known.hunks[told.uri] = #undecided > 0 and { uri = told.uri, version = told.version, hunks = undecided } or nil
  state.emit('hunks', known, told.uri)
end

---@param session table
---@param client_id integer
function M.session(session, client_id)
  local known = state.of(client_id)
  known.sessions[session.sessionId] = session
  state.emit('session', known, session.sessionId)
end

return M
