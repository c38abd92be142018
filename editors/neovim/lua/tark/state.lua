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

---@alias tark.Event
---| 'update'     # (state, params: tark.UpdateParams, change?: tark.Change) after it is in the transcript
---| 'hunks'      # (state, uri)
---| 'permission' # (state) those that wait are others now
---| 'input'      # (state) likewise
---| 'session'    # (state, session_id?) settings or title changed, or another one is the current one
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

---As vim.uri_from_bufnr() spells it; the server may write it in another way.
---@param uri string
---@return string
function M.normal(uri)
  if uri:match('^file:') then
    local ok, path = pcall(vim.uri_to_fname, uri)
    return ok and vim.uri_from_fname(path) or uri
  end
  return uri
end

---The buffer that shows it, loaded or not. None is made.
---@param uri string
---@return integer? bufnr
function M.buffer_of(uri)
  uri = M.normal(uri)
  local name = uri:match('^file:') and vim.uri_to_fname(uri) or uri
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    -- Comparing names is cheaper than making a URI of each; on Windows they differ in slashes.
    local own = vim.api.nvim_buf_get_name(bufnr)
    if own ~= '' and (own == name or (own:find('\\', 1, true) and vim.uri_from_bufnr(bufnr) == uri)) then
      return bufnr
    end
  end
end

---The hunks to be decided in a buffer.
---@param bufnr integer
---@return tark.DocumentHunks?
---@return tark.State?
function M.hunks_of(bufnr)
  if not vim.api.nvim_buf_is_valid(bufnr) or vim.api.nvim_buf_get_name(bufnr) == '' then
    return nil
  end
  local uri = vim.uri_from_bufnr(bufnr)
  for _, each in pairs(states) do
    if each.hunks[uri] then
      return each.hunks[uri], each
    end
  end
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
