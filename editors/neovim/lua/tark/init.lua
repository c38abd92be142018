---The public functions of `require('tark')`. Each is documented in doc/tark.txt.
local M = {}

---Optional: everything works without it.
---@param options? table see tark.Config
function M.setup(options)
  for _, problem in ipairs(require('tark.config').set(options)) do
    require('tark.notify').warn(problem)
  end
  if require('tark.config').get().keymaps then
    require('tark.commands.keymaps').set()
  end
end

---A function that loads its module when it is called.
---@param module string
---@param name string
---@param default? table options if none are given
---@return fun(options?: table): any
local function lazy(module, name, default)
  return function(options)
    return require(module)[name](options or default)
  end
end

---@param kind string
---@return fun(options?: tark.TurnOptions)
local function turn(kind)
  return function(options)
    require('tark.commands.turn').start_turn(kind, options)
  end
end

M.agent = turn('agent')
M.ask = turn('ask')
M.edit = turn('edit')
M.explain = turn('explain')
M.fix = turn('fix')
M.test = turn('test')

M.chat = lazy('tark.chat', 'toggle')
M.stop = lazy('tark.commands.stop', 'stop')
M.undo = lazy('tark.commands.undo', 'undo_last_turn')
M.redo = lazy('tark.commands.redo', 'redo')
M.restore = lazy('tark.pickers.restore', 'choose')
M.build = lazy('tark.commands.build', 'build')
M.paste = lazy('tark.commands.paste', 'paste')
M.commit = lazy('tark.commands.commit', 'write_message')

M.accept = lazy('tark.commands.review', 'accept', {})
M.reject = lazy('tark.commands.review', 'reject', {})
M.next_hunk = lazy('tark.commands.review', 'next')
M.prev_hunk = lazy('tark.commands.review', 'previous')
M.hunk_diff = lazy('tark.commands.review', 'diff')
M.hunk_edit = lazy('tark.commands.review', 'edit')
M.hunk_regenerate = lazy('tark.commands.review', 'regenerate')
M.review = lazy('tark.commands.review', 'list')
M.permission = lazy('tark.waiting.focus', 'choose')

M.sessions = lazy('tark.pickers.sessions', 'choose')
M.model = lazy('tark.pickers.settings', 'choose_model')
M.mode = lazy('tark.pickers.settings', 'choose_mode')
M.choose_agent = lazy('tark.pickers.agents', 'choose')
M.permissions = lazy('tark.pickers.permissions', 'choose')
M.mcp = lazy('tark.mcp.list', 'show')
M.login = lazy('tark.pickers.login', 'choose')

M.status = lazy('tark.status', 'line')
M.status_data = lazy('tark.status', 'data')
M.status_report = lazy('tark.commands.status_report', 'show')
M.context_report = lazy('tark.commands.context_report', 'show')

function M.restart()
  require('tark.commands.restart').restart()
end

return M
