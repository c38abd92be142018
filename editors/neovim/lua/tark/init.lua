---What other configurations call: `require('tark')`. Each function is documented in doc/tark.txt.
local M = {}

---Optional: everything works without it.
---@param options? table see tark.Config
function M.setup(options)
  for _, problem in ipairs(require('tark.config').set(options)) do
    require('tark.notify').warn(problem)
  end
  if require('tark.config').get().keymaps then
    require('tark.keymaps').set()
  end
end

---A function of one of our files, which is loaded when it is called.
---@param module string
---@param name string
---@param default? table what it gets where nothing is given
---@return fun(options?: table): any
local function of(module, name, default)
  return function(options)
    return require('tark.' .. module)[name](options or default)
  end
end

---@param kind string
---@return fun(options?: tark.TurnOptions)
local function turn(kind)
  return function(options)
    require('tark.turn').start(kind, options)
  end
end

M.agent = turn('agent')
M.ask = turn('ask')
M.edit = turn('edit')
M.explain = turn('explain')
M.fix = turn('fix')
M.test = turn('test')

M.chat = of('chat', 'toggle')
M.stop = of('progress', 'stop')
M.undo = of('undo', 'last')

M.accept = of('review', 'accept', {})
M.reject = of('review', 'reject', {})
M.next_hunk = of('review', 'next')
M.prev_hunk = of('review', 'previous')
M.hunk_diff = of('review', 'diff')
M.hunk_edit = of('review', 'edit')
M.hunk_regenerate = of('review', 'regenerate')
M.review = of('review', 'list')
M.permission = of('waiting.go', 'choose')

M.sessions = of('pickers.sessions', 'choose')
M.model = of('pickers.settings', 'model')
M.mode = of('pickers.settings', 'mode')
M.login = of('pickers.login', 'choose')

M.status = of('status', 'line')
M.status_data = of('status', 'data')
M.status_report = of('status_report', 'show')

function M.restart()
  require('tark.restart').restart()
end

return M
