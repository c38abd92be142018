---Autocommands while the float is open: the cursor comes under it, the screen changes, or the user closes it.
local notify = require('tark.notify')

local M = {}

local GROUP = 'tark_waiting'

---@class tark.FloatEvents functions of float.lua
---@field moved fun()
---@field resized fun()
---@field entered fun()
---@field show fun()
---@field show_again fun()
---@field closed fun()

---@param callback fun()
---@return fun()
local function reporting_errors(callback)
  return function()
    local ok, problem = xpcall(callback, debug.traceback)
    if not ok then
      notify.internal_error(problem)
    end
  end
end

---@param window integer
---@param float tark.FloatEvents
function M.start(window, float)
  local group = vim.api.nvim_create_augroup(GROUP, { clear = true })
  ---@param events string|string[]
  ---@param callback fun()
  ---@param pattern? string
  local function on(events, callback, pattern)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback, pattern = pattern })
  end
  on({ 'CursorMoved', 'CursorMovedI', 'TextChanged', 'TextChangedI', 'WinScrolled' }, reporting_errors(float.moved))
  on({ 'VimResized', 'TabNewEntered' }, reporting_errors(float.resized))
  on('WinEnter', reporting_errors(float.entered))
  -- These events come during a change in which no window can be opened.
  on({ 'WinLeave', 'TabEnter' }, vim.schedule_wrap(reporting_errors(float.show)))
  on('TabClosed', vim.schedule_wrap(reporting_errors(float.show_again)))
  on('WinClosed', reporting_errors(float.closed), tostring(window))
end

function M.stop()
  pcall(vim.api.nvim_del_augroup_by_name, GROUP)
end

return M
