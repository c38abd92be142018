---Removes the names that buffers got for a turn (unnamed.lua), once no turn runs and their hunks are decided.
local notify = require('tark.notify')
local state = require('tark.state')
local unnamed = require('tark.unnamed')

local M = {}

local starting = {} ---@type table<integer, true> buffers whose turn the server has not accepted yet

---@return boolean
local function runs_any_turn()
  return vim.iter(state.all()):any(function(server_state)
    local unended = state.unended_turns(server_state)
    return #unended.running + #unended.queued > 0
  end)
end

---@param bufnr integer
---@return boolean
local function has_hunks(bufnr)
  local uri = vim.uri_from_bufnr(bufnr)
  return vim.iter(state.all()):any(function(server_state)
    return server_state.hunks[uri] ~= nil
  end)
end

local take_names = vim.schedule_wrap(function()
  for _, bufnr in ipairs(unnamed.buffers()) do
    if not starting[bufnr] and not runs_any_turn() and not has_hunks(bufnr) then
      unnamed.take_name(bufnr)
    end
  end
end)

---Call this before a turn that changes the buffer.
---@param bufnr integer
function M.before_turn(bufnr)
  local name = unnamed.give_name(bufnr)
  if name then
    notify.info(('this buffer is named %s while Tark changes it'):format(name))
  end
  starting[bufnr] = unnamed.has_given_name(bufnr) or nil
end

---Call this when the server has accepted or refused the turn.
---@param bufnr integer
function M.turn_sent(bufnr)
  if starting[bufnr] then
    starting[bufnr] = nil
    take_names()
  end
end

for _, event in ipairs({ 'update', 'hunks', 'server' }) do
  state.on(event, function()
    if #unnamed.buffers() > 0 then
      take_names()
    end
  end)
end

return M
