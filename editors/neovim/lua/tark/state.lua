---What is known of each workspace's server: its sessions, hunks, and what waits for the person. Views listen to it.
---A state outlives its server: the one that is started next for the same folder goes on with it.
local M = {}

---@class tark.State
---@field client_id integer of the client that runs, or ran last (server.of(state) gives it)
---@field alive boolean
---@field root string|false the workspace folder; false: none
---@field session_id? string the session that :Tark goes on with
---@field transcripts table<string, tark.Transcript> by session id
---@field sessions table<string, table> by session id, as in `tark/session`
---@field hunks table<string, tark.DocumentHunks> those to be decided, by uri: pending, conflict and stale ones
---@field permissions tark.Permission[] that wait, the oldest first
---@field inputs tark.Input[] that wait, the oldest first
---@field prompts table[] named prompts, as in `tark.state`
---@field settings table what new sessions begin with, as in `tark.state`
---@field tokens table<string|integer, true> of work-done progress that goes on
---@field activity string what that said last

---@alias tark.Event
---| 'update'     # (state, params: tark.UpdateParams, change?: tark.Change) after it is in the transcript
---| 'hunks'      # (state, uri)
---| 'permission' # (state) those that wait are others now
---| 'input'      # (state) likewise
---| 'session'    # (state, session_id?) settings or title changed, or another one is the current one
---| 'progress'   # (state) work-done progress
---| 'attach'     # (state, bufnr) the server knows this document from now on
---| 'server'     # (state, 'started'|'ended')

local states = {} ---@type table<integer, tark.State>
local gone = {} ---@type table<integer, true> clients whose state another one goes on with, or that was forgotten
local listeners = {} ---@type table<string, function[]>

---What a client that is no more tells late goes nowhere: its state is one that nobody sees.
---@param client_id integer
---@return tark.State
function M.of(client_id)
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

---A server is there: it goes on with the state of the one that ended in the same folder, if one did.
---@param client_id integer
---@param root? string
---@return tark.State
function M.begin(client_id, root)
  for former, each in pairs(states) do
    if not each.alive and each.root == (root or false) and not states[client_id] then
      states[former], gone[former] = nil, true
      states[client_id] = each
      each.client_id, each.alive = client_id, true
      return each
    end
  end
  local found = M.of(client_id)
  found.root = root or false
  return found
end

---Also those whose server has ended.
---@return tark.State[]
function M.all()
  return vim.tbl_values(states)
end

---@param client_id integer
function M.forget(client_id)
  states[client_id], gone[client_id] = nil, true
end

---@param known? tark.State
---@return table session the current one, as in `tark/session`; empty where there is none
---@return tark.Transcript|{ turns: tark.Turn[] } transcript likewise
function M.current(known)
  local session_id = known and known.session_id
  if not known or not session_id then
    return {}, { turns = {} }
  end
  return known.sessions[session_id] or {}, known.transcripts[session_id] or { turns = {} }
end

---@param known tark.State
---@return { running: tark.Turn[], queued: tark.Turn[] } turns of all its sessions
function M.unended(known)
  local found = { running = {}, queued = {} }
  for _, talk in pairs(known.transcripts) do
    for _, turn in ipairs(talk.turns) do
      table.insert(found[turn.state] or {}, turn)
    end
  end
  return found
end

---@param event tark.Event
---@param listener function
---@return fun() stop
function M.on(event, listener)
  listeners[event] = listeners[event] or {}
  table.insert(listeners[event], listener)
  return function()
    -- A new list, so that an `emit` which is going through the old one is not disturbed.
    listeners[event] = vim.tbl_filter(function(each)
      return each ~= listener
    end, listeners[event])
  end
end

---One listener that fails keeps no other from hearing of it; one that was stopped meanwhile does not hear of it.
---@param event tark.Event
function M.emit(event, ...)
  for _, listener in ipairs(vim.list_slice(listeners[event] or {})) do
    if vim.list_contains(listeners[event], listener) then
      local ok, problem = xpcall(listener, debug.traceback, ...)
      if not ok then
        require('tark.notify').bug(problem)
      end
    end
  end
end

return M
