---What may happen around the float while it is open: the cursor comes under it, the screen changes, somebody closes it.
local M = {}

local GROUP = 'tark_waiting'

---@param name string of a function of the float
---@return fun()
local function float(name)
  return function()
    local ok, problem = xpcall(require('tark.waiting.float')[name], debug.traceback)
    if not ok then
      require('tark.notify').bug(problem)
    end
  end
end

---@param window integer
function M.start(window)
  local group = vim.api.nvim_create_augroup(GROUP, { clear = true })
  ---@param events string|string[]
  ---@param callback fun()
  ---@param pattern? string
  local function on(events, callback, pattern)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback, pattern = pattern })
  end
  on({ 'CursorMoved', 'CursorMovedI', 'WinScrolled' }, float('moved'))
  on({ 'VimResized', 'TabNewEntered' }, float('resized'))
  on('WinEnter', float('entered'))
  -- These come in the middle of a change, in which no window may be opened.
  on({ 'WinLeave', 'TabEnter' }, vim.schedule_wrap(float('show')))
  on('TabClosed', vim.schedule_wrap(float('show_again')))
  on('WinClosed', float('closed'), tostring(window))
end

function M.stop()
  pcall(vim.api.nvim_del_augroup_by_name, GROUP)
end

return M
