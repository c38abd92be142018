---What is known of each running server: its sessions, hunks, and what waits for the person. Views listen to it.
local M = {}

---@class tark.State
---@field client_id integer
---@field session_id? string the session that :Tark goes on with
---@field transcripts table<string, tark.Transcript> by session id
---@field sessions table<string, table> by session id, as in `tark/session`
---@field hunks table<string, tark.DocumentHunks> those to be decided, by uri: pending, conflict and stale ones
---@field permissions tark.Permission[] that wait, the oldest first
---@field inputs tark.Input[] that wait, the oldest first

---@alias tark.Event
---| 'update'     # (state, params: tark.UpdateParams, change?: tark.Change) after it is in the transcript
---| 'hunks'      # (state, uri)
---| 'permission' # (state) those that wait are others now
---| 'input'      # (state) likewise
---| 'session'    # (state, session_id) settings or title changed, or another one is the current one
---| 'server'     # (state, 'started'|'ended')

local states = {} ---@type table<integer, tark.State>
local listeners = {} ---@type table<string, function[]>

---@param client_id integer
---@return tark.State
function M.of(client_id)
  states[client_id] = states[client_id]
    or {
      client_id = client_id,
      transcripts = {},
      sessions = {},
      hunks = {},
      permissions = {},
      inputs = {},
    }
  return states[client_id]
end

---@return tark.State[]
function M.all()
  return vim.tbl_values(states)
end

---The server is gone, and with it what waited.
---@param client_id integer
function M.forget(client_id)
  states[client_id] = nil
end

---@param event tark.Event
---@param listener function
---@return fun() stop
function M.on(event, listener)
  listeners[event] = listeners[event] or {}
  table.insert(listeners[event], listener)
  return function()
    listeners[event] = vim.tbl_filter(function(each)
      return each ~= listener
    end, listeners[event])
  end
end

---One listener that fails keeps no other from hearing of it.
---@param event tark.Event
function M.emit(event, ...)
  for _, listener in ipairs(listeners[event] or {}) do
    local ok, problem = xpcall(listener, debug.traceback, ...)
    if not ok then
      require('tark.notify').bug(problem)
    end
  end
end

return M
