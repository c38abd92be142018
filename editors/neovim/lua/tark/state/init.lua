---The state of the server of each workspace: its sessions, its hunks, and what waits for the user. Views listen to it.
---A state is kept when its server ends: the next server of the same folder continues with it.
local listeners = require('tark.listeners')

local M = {}

---@class tark.State
---@field client_id integer of the client that runs, or that ran last
---@field alive boolean
---@field root string|false the workspace folder; false: none
---@field session_id? string the current session, which :Tark continues
---@field transcripts table<string, tark.Transcript> by session id
---@field sessions table<string, table> by session id, as in `tark/session`
---@field hunks table<string, tark.DocumentHunks> undecided hunks by URI: pending, in conflict and stale
---@field permissions tark.Permission[] that wait for an answer, the oldest first
---@field inputs tark.Input[] that wait for an answer, the oldest first
---@field prompts table[] named prompts, as in `tark.state`
---@field settings table settings of new sessions, as in `tark.state`
---@field tokens table<string|integer, true> of work-done progress that has not ended
---@field activity string the last message of work-done progress

---@alias tark.Event
---| 'update'     # (state, params: tark.UpdateParams, change?: tark.Change) after it is in the transcript
---| 'gap'        # (state, session_id) the server knows more of this session: an update is missing, or a server ended
---| 'hunks'      # (state, uri)
---| 'permission' # (state) the list of waiting permissions has changed
---| 'input'      # (state) the list of waiting questions has changed
---| 'session'    # (state, session_id?) settings or title changed, or another session is the current one
---| 'progress'   # (state) work-done progress
---| 'mcp'        # (state, unanswered) the list of MCP servers and hooks has changed
---| 'attach'     # (state, bufnr) the server knows this document from now on
---| 'server'     # (state, 'started'|'ended')

local states = {} ---@type table<integer, tark.State>
local gone = {} ---@type table<integer, true> ids of clients that ended and whose state another client took over
local events = listeners.new()

---A client that has ended gets a separate state that nobody else sees, so that its late messages change nothing.
---@param client_id integer
---@return tark.State
function M.of_client(client_id)
  local found = states[client_id]
  if not found then
    found = {
      client_id = client_id,
      alive = not gone[client_id],
      root = false,
      transcripts = {},
      sessions = {},
      hunks = {},
      permissions = {},
      inputs = {},
      prompts = {},
      settings = {},
      tokens = {},
      activity = '',
    }
    if found.alive then
      states[client_id] = found
    end
  end
  return found
end

---Called when a server has started. It takes over the state of a server that ended in the same folder, if there is one.
---@param client_id integer
---@param root? string
---@return tark.State
function M.begin(client_id, root)
  for former, state in pairs(states) do
    if not state.alive and state.root == (root or false) and not states[client_id] then
      states[former], gone[former] = nil, true
      states[client_id] = state
      state.client_id, state.alive = client_id, true
      return state
    end
  end
  local state = M.of_client(client_id)
  state.root = root or false
  return state
end

---Includes states whose server has ended.
---@return tark.State[]
function M.all()
  return vim.tbl_values(states)
end

---@param server_state? tark.State
---@return table session the current session, as in `tark/session`; empty if there is none
---@return tark.Transcript|{ turns: tark.Turn[] } transcript of the session
function M.current_session(server_state)
  local session_id = server_state and server_state.session_id
  if not server_state or not session_id then
    return {}, { turns = {} }
  end
  return server_state.sessions[session_id] or {}, server_state.transcripts[session_id] or { turns = {} }
end

---The settings of the next turn: the settings of the session, as changed by its custom agent if it has one.
---@param server_state? tark.State
---@return { model?: string, mode?: string, approval?: string, agent?: string }
function M.used_settings(server_state)
  local session = M.current_session(server_state)
  local defaults = server_state and server_state.settings or {}
  if not session.mode then
    session = vim.tbl_extend('force', defaults, session)
  end
  local used = vim.tbl_extend('force', session, session.effective or {})
  return { model = used.model or defaults.model, mode = used.mode, approval = used.approval, agent = used.agent }
end

---@param server_state tark.State
---@return { running: tark.Turn[], queued: tark.Turn[] } turns of all its sessions
function M.unended_turns(server_state)
  local found = { running = {}, queued = {} }
  for _, transcript in pairs(server_state.transcripts) do
    for _, turn in ipairs(transcript.turns) do
      table.insert(found[turn.state] or {}, turn)
    end
  end
  return found
end

---@param event tark.Event
---@param listener function
---@return fun() stop
function M.on(event, listener)
  return events:on(event, listener)
end

---@param event tark.Event
function M.emit(event, ...)
  events:emit(event, ...)
end

return M
