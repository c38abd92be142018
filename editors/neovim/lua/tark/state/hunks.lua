---Changes the hunks of the state. The state has only undecided hunks.
local state = require('tark.state')
local workspace = require('tark.workspace')

local M = {}

M.UNDECIDED = { pending = true, conflict = true, stale = true }

---Removes hunks from their former URI after the file was moved, or opened by another path.
---@param server_state tark.State
---@param uri string their URI now
---@param ids table<string, boolean>
local function remove_elsewhere(server_state, uri, ids)
  for other_uri, document in pairs(server_state.hunks) do
    local left = vim.tbl_filter(function(hunk)
      return not ids[hunk.hunkId]
    end, document.hunks)
    if other_uri ~= uri and #left < #document.hunks then
      local remaining = { uri = other_uri, version = document.version, hunks = left }
      server_state.hunks[other_uri] = #left > 0 and remaining or nil
      state.emit('hunks', server_state, other_uri)
    end
  end
end

---Updates the copies of hunks in permission requests, because the user can decide on these hunks one by one.
---@param server_state tark.State
---@param hunks tark.Hunk[]
local function update_permissions(server_state, hunks)
  if #server_state.permissions == 0 then
    return
  end
  local states = {} ---@type table<string, string>
  for _, hunk in ipairs(hunks) do
    states[hunk.hunkId] = hunk.state
  end
  for _, permission in ipairs(server_state.permissions) do
    for _, document in ipairs(permission.edits or {}) do
      for _, hunk in ipairs(document.hunks) do
        hunk.state = states[hunk.hunkId] or hunk.state
      end
    end
  end
end

---@param server_state tark.State
---@param document tark.DocumentHunks all hunks of a document, including those that were decided long ago
function M.set_document_hunks(server_state, document)
  document.uri = workspace.normalize_uri(document.uri)
  local ids = {} ---@type table<string, boolean>
  local undecided = {} ---@type tark.Hunk[]
  for _, hunk in ipairs(document.hunks) do
    ids[hunk.hunkId] = true
    if M.UNDECIDED[hunk.state] then
      table.insert(undecided, hunk)
    end
  end
  remove_elsewhere(server_state, document.uri, ids)
  update_permissions(server_state, document.hunks)
  local kept = { uri = document.uri, version = document.version, hunks = undecided }
  server_state.hunks[document.uri] = #undecided > 0 and kept or nil
  state.emit('hunks', server_state, document.uri)
end

---@param server_state tark.State
---@param hunks table[] the answer of `tark.hunk.list`: all hunks, each with its `uri` and `version`
function M.set_all_hunks(server_state, hunks)
  local documents = {} ---@type table<string, tark.DocumentHunks>
  for uri in pairs(server_state.hunks) do
    documents[uri] = { uri = uri, hunks = {} }
  end
  for _, hunk in ipairs(hunks) do
    local uri = workspace.normalize_uri(hunk.uri)
    documents[uri] = documents[uri] or { uri = uri, hunks = {} }
    documents[uri].version = hunk.version
    table.insert(documents[uri].hunks, hunk)
  end
  for _, document in pairs(documents) do
    M.set_document_hunks(server_state, document)
  end
end

---@param server_state tark.State
function M.remove_all_hunks(server_state)
  local former = server_state.hunks
  server_state.hunks = {}
  for uri in pairs(former) do
    state.emit('hunks', server_state, uri)
  end
end

return M
