---`:TarkRedo`: redoes what `:TarkUndo` undid, the oldest turn first, because later turns can need its lines.
local clients = require('tark.server.clients')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local state = require('tark.state')
local workspace = require('tark.workspace')

local M = {}

---@param transcript tark.Transcript
---@return tark.Turn?
local function oldest_undone(transcript)
  for _, turn in ipairs(transcript.turns) do
    if turn.undone then
      return turn
    end
  end
end

---@param answer { restored: string[], kept: { uri: string, reason: string }[] }
local function report(answer)
  local parts = {}
  if #answer.restored > 0 then
    local files = table.concat(vim.tbl_map(workspace.display_name, answer.restored), ', ')
    table.insert(parts, 'redid the turn in ' .. files)
  end
  for _, kept in ipairs(answer.kept) do
    table.insert(parts, ('kept %s: %s'):format(workspace.display_name(kept.uri), kept.reason))
  end
  local tell = #answer.kept > 0 and notify.warn or notify.info
  tell(#parts > 0 and table.concat(parts, '; ') or 'there is nothing to redo')
end

---Redoes the oldest undone turn of the session.
function M.redo()
  local client = clients.for_buffer()
  if not client then
    return notify.info('there is nothing to redo: no server is running')
  end
  local _, transcript = state.current_session(state.of_client(client.id))
  local turn = oldest_undone(transcript)
  if not turn then
    return notify.info('there is nothing to redo')
  end
  requests.send_command(client, 'tark.turn.redo', { turnId = turn.turnId }, function(problem, answer)
    if problem then
      return notify.warn(problem)
    end
    report(answer)
  end)
end

return M
