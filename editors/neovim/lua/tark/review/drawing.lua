---Hunks are drawn in every loaded buffer, from the moment they are told of until they are decided.
local changes = require('tark.review.changes')
local hunks = require('tark.review.hunks')
local notify = require('tark.notify')
local state = require('tark.state')

local M = {}

local buffers = {} ---@type table<integer, tark.BufferReview>
local wanted = {} ---@type table<integer, 'update'|'check'>
local scheduled = false

---@param bufnr integer
local function refresh(bufnr, what)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    buffers[bufnr] = nil
  elseif what == 'check' and buffers[bufnr] then
    buffers[bufnr]:check()
  elseif what == 'update' then
    local waiting = hunks.undecided(bufnr)
    if #waiting > 0 and not buffers[bufnr] then
      buffers[bufnr] = require('tark.review.buffer').new(bufnr)
    end
    if buffers[bufnr] then
      buffers[bufnr]:update(waiting)
      buffers[bufnr]:check()
    end
    if #waiting == 0 then
      buffers[bufnr] = nil
    end
  end
end

---Once for all that was told in one go, and before the next frame where it was told by the server.
---@param bufnr integer
---@param what 'update'|'check'
local function want(bufnr, what)
  wanted[bufnr] = wanted[bufnr] == 'update' and 'update' or what
  if scheduled then
    return
  end
  scheduled = true
  vim.schedule(function()
    local todo = wanted
    wanted, scheduled = {}, false
    for each, which in pairs(todo) do
      local ok, problem = xpcall(refresh, debug.traceback, each, which)
      if not ok then
        notify.bug(problem)
      end
    end
  end)
end

---@param bufnr? integer nil: the current one
---@return tark.BufferReview? review nil: it has no hunks
function M.of(bufnr)
  return buffers[bufnr and bufnr ~= 0 and bufnr or vim.api.nvim_get_current_buf()]
end

---Where a hunk stands now: where it is drawn, else where the server says.
---@param waiting tark.Undecided
---@return integer first from 0
---@return integer count of lines
function M.place(waiting)
  local bufnr = hunks.buffer(waiting.uri)
  local placed = bufnr and buffers[bufnr] and buffers[bufnr].placed[waiting.hunk.hunkId]
  if placed and placed:place() then
    return placed:place()
  end
  return hunks.place(waiting.hunk)
end

---Lines that are longer than a window are broken for its width.
---@param windows integer[] that have another size
local function resized(windows)
  for _, window in ipairs(windows) do
    local bufnr = vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window)
    for _, placed in pairs(bufnr and buffers[bufnr] and buffers[bufnr].placed or {}) do
      placed.stale = true
      want(placed.bufnr, 'update')
    end
  end
end

---Hunks may be drawn otherwise than before.
function M.redraw()
  for bufnr in pairs(buffers) do
    want(bufnr, 'update')
  end
end

state.on('hunks', function(_, uri)
  local bufnr = hunks.buffer(uri)
  if bufnr then
    want(bufnr, 'update')
  end
end)
state.on('server', M.redraw)
state.on('attach', function(_, bufnr)
  changes.follow(bufnr)
end)

changes.listen({
  changed = function(bufnr, first, new_last)
    if buffers[bufnr] then
      buffers[bufnr]:changed(first, new_last)
      want(bufnr, 'check')
    end
  end,
  lost = function(bufnr)
    if buffers[bufnr] then
      buffers[bufnr]:forget()
      want(bufnr, 'update')
    end
  end,
})

local group = vim.api.nvim_create_augroup('tark_review', {})
vim.api.nvim_create_autocmd('WinResized', {
  group = group,
  desc = 'Tark: draw hunks for the width of their windows',
  callback = function()
    resized(vim.v.event.windows)
  end,
})
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufWinEnter', 'BufFilePost' }, {
  group = group,
  desc = 'Tark: draw the hunks of a file that was opened',
  callback = function(event)
    want(event.buf, 'update')
  end,
})

return M
