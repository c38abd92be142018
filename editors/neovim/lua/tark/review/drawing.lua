---Draws hunks in every loaded buffer, from the time they are reported until they are decided.
local changes = require('tark.review.changes')
local hunks = require('tark.review.hunks')
local notify = require('tark.notify')
local state = require('tark.state')
local workspace = require('tark.workspace')

local M = {}

---@alias tark.RefreshKind
---| 'update' # the server has reported hunks
---| 'check'  # the text has changed

local buffers = {} ---@type table<integer, tark.BufferHunks>
local pending = {} ---@type table<integer, tark.RefreshKind> by buffer
local scheduled = false

---@param bufnr integer
---@param kind tark.RefreshKind
local function refresh(bufnr, kind)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    buffers[bufnr] = nil
  elseif kind == 'check' and buffers[bufnr] then
    buffers[bufnr]:check()
  elseif kind == 'update' then
    local entries = hunks.undecided(bufnr)
    if #entries > 0 and not buffers[bufnr] then
      buffers[bufnr] = require('tark.review.buffer_hunks').new(bufnr)
    end
    if buffers[bufnr] then
      buffers[bufnr]:update(entries)
      buffers[bufnr]:check()
    end
    if #entries == 0 then
      buffers[bufnr] = nil
    end
  end
end

---Refreshes once for all changes of a main loop iteration, before the next frame.
---@param bufnr integer
---@param kind tark.RefreshKind
local function schedule_refresh(bufnr, kind)
  pending[bufnr] = pending[bufnr] == 'update' and 'update' or kind
  if scheduled then
    return
  end
  scheduled = true
  vim.schedule(function()
    local due = pending
    pending, scheduled = {}, false
    for due_bufnr, due_kind in pairs(due) do
      local ok, problem = xpcall(refresh, debug.traceback, due_bufnr, due_kind)
      if not ok then
        notify.internal_error(problem)
      end
    end
  end)
end

---@param bufnr? integer nil: the current one
---@return tark.BufferHunks? nil: it has no hunks
function M.of_buffer(bufnr)
  return buffers[bufnr and bufnr ~= 0 and bufnr or vim.api.nvim_get_current_buf()]
end

---The current place of a hunk: where it is drawn, else where the server reports it.
---@param entry tark.UndecidedHunk
---@return integer first from 0
---@return integer count of lines
function M.place(entry)
  local bufnr = workspace.find_buffer(entry.uri)
  local tracked = bufnr and buffers[bufnr] and buffers[bufnr].tracked[entry.hunk.hunkId]
  if tracked and tracked:place() then
    return tracked:place()
  end
  return hunks.lines_of_range(entry.hunk)
end

---Redraws hunks in resized windows, because long lines are broken at the window's width.
---@param windows integer[]
local function windows_resized(windows)
  for _, window in ipairs(windows) do
    local bufnr = vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window)
    for _, tracked in pairs(bufnr and buffers[bufnr] and buffers[bufnr].tracked or {}) do
      tracked.stale = true
      schedule_refresh(tracked.bufnr, 'update')
    end
  end
end

---Call this when hunks could look different.
function M.redraw()
  for bufnr in pairs(buffers) do
    schedule_refresh(bufnr, 'update')
  end
end

state.on('hunks', function(_, uri)
  local bufnr = workspace.find_buffer(uri)
  if bufnr then
    schedule_refresh(bufnr, 'update')
  end
end)
state.on('server', M.redraw)
state.on('attach', function(_, bufnr)
  changes.record_changes(bufnr)
end)

changes.listen({
  changed = function(bufnr, first, new_last)
    if buffers[bufnr] then
      buffers[bufnr]:lines_changed(first, new_last)
      schedule_refresh(bufnr, 'check')
    end
  end,
  lost = function(bufnr)
    if buffers[bufnr] then
      buffers[bufnr]:reset()
      schedule_refresh(bufnr, 'update')
    end
  end,
})

local group = vim.api.nvim_create_augroup('tark_review', {})
vim.api.nvim_create_autocmd('WinResized', {
  group = group,
  desc = 'Tark: draw hunks for the width of their windows',
  callback = function()
    windows_resized(vim.v.event.windows)
  end,
})
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufWinEnter', 'BufFilePost' }, {
  group = group,
  desc = 'Tark: draw the hunks of a file that was opened',
  callback = function(event)
    schedule_refresh(event.buf, 'update')
  end,
})

return M
