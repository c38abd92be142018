---What each Vim command does: a function of `require('tark')`. Names and arguments are in plugin/tark.lua.
local M = {}

---@alias tark.CommandArguments vim.api.keyset.create_user_command.command_args

---@param arguments tark.CommandArguments
local function turn(arguments)
  return { prompt = arguments.args, range = require('tark.places').of_command(arguments) }
end

---@param arguments tark.CommandArguments
local function all(arguments)
  return { all = arguments.bang }
end

---@param arguments tark.CommandArguments
local function hunks(arguments)
  local lines = arguments.range > 0 and { arguments.line1, arguments.line2 } or nil
  return { all = arguments.bang, range = lines }
end

---@param arguments tark.CommandArguments
local function setting(arguments)
  return { name = arguments.args, new_sessions = arguments.bang }
end

---The function of `require('tark')`, and what it gets.
---@type table<string, { [1]: string, [2]?: fun(arguments: tark.CommandArguments): table }>
M.table = {
  Tark = { 'agent', turn },
  TarkEdit = { 'edit', turn },
  TarkAsk = { 'ask', turn },
  TarkExplain = { 'explain', turn },
  TarkFix = { 'fix', turn },
  TarkTest = { 'test', turn },
  TarkChat = { 'chat' },
  TarkStop = { 'stop', all },
  TarkAccept = { 'accept', hunks },
  TarkReject = { 'reject', hunks },
  TarkUndo = {
    'undo',
    function(arguments)
      return { before = arguments.bang }
    end,
  },
  TarkReview = { 'review' },
  TarkSessions = {
    'sessions',
    function(arguments)
      return { action = arguments.args, all = arguments.bang }
    end,
  },
  TarkModel = { 'model', setting },
  TarkMode = { 'mode', setting },
  TarkLogin = {
    'login',
    function(arguments)
      return { provider = arguments.args }
    end,
  },
  TarkStatus = { 'status_report' },
  TarkPermission = { 'permission' },
  TarkRestart = { 'restart' },
}

---@param name string
---@param arguments tark.CommandArguments
function M.run(name, arguments)
  local call, options = unpack(M.table[name])
  local ok, problem = xpcall(function()
    require('tark')[call](options and options(arguments))
  end, debug.traceback)
  if not ok then
    require('tark.notify').bug(problem)
  end
end

return M
