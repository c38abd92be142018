---Which lines of a buffer changed since a version of it. While one types, what the server tells of is a text some keys
---ago: places in it are carried to the text of now.
local M = {}

---Enough for minutes of typing; what is told of older versions is drawn with the next update.
local MOST = 1000 -- an even number

---@class tark.LineChange lines [first, last) became lines [first, new_last)
---@field tick integer the version that the buffer had after it
---@field first integer
---@field last integer
---@field new_last integer

---@class tark.ChangeListener
---@field changed fun(bufnr: integer, first: integer, new_last: integer) while the text changes: leave it alone then
---@field lost fun(bufnr: integer) the text was read anew, or is gone

---@class tark.ChangeLog
---@field since integer the version before the first change
---@field changes tark.LineChange[]

local logs = {} ---@type table<integer, tark.ChangeLog> by buffer
local listeners = {} ---@type tark.ChangeListener[]

---Where a place of an older text is now. Pure.
---@param changes tark.LineChange[]
---@param version integer
---@param start integer first line, from 0
---@param count integer of lines; 0: between two lines
---@return integer? start nil: the lines themselves were changed
function M.carry(changes, version, start, count)
  for _, change in ipairs(changes) do
    if change.tick > version then
      -- Of two insertions at the same place the server keeps its own above.
      local beside = count == 0 and change.first == change.last and change.first == start
      if change.last <= start and not beside then
        start = start + change.new_last - change.last
      elseif change.last > start and change.first < start + count then
        return nil
      end
    end
  end
  return start
end

---@param bufnr integer
---@return integer version of the text as it is now, in the count of the language client
function M.version(bufnr)
  return vim.lsp.util.buf_versions[bufnr]
end

---@param bufnr integer
---@param version integer that the server told of
---@param start integer
---@param count integer
---@return integer? start where it is now; nil: unknown
function M.now(bufnr, version, start, count)
  local log = logs[bufnr]
  if version == M.version(bufnr) then
    return start
  end
  return log and version >= log.since and M.carry(log.changes, version, start, count) or nil
end

---@param listener tark.ChangeListener
function M.listen(listener)
  table.insert(listeners, listener)
end

local function lost(bufnr)
  for _, each in ipairs(listeners) do
    each.lost(bufnr)
  end
end

---Begin to note the changes of a buffer.
---@param bufnr integer
function M.follow(bufnr)
  if logs[bufnr] or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  logs[bufnr] = { since = M.version(bufnr), changes = {} }
  vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = function(_, _, tick, first, last, new_last)
      local log = logs[bufnr]
      if #log.changes == MOST then
        log.since = log.changes[MOST / 2].tick
        log.changes = vim.list_slice(log.changes, MOST / 2 + 1)
      end
      table.insert(log.changes, { tick = tick, first = first, last = last, new_last = new_last })
      for _, each in ipairs(listeners) do
        each.changed(bufnr, first, new_last)
      end
    end,
    on_reload = function()
      logs[bufnr] = { since = 0, changes = {} } -- it is opened anew at the server, its versions count from 0
      lost(bufnr)
    end,
    on_detach = function()
      logs[bufnr] = nil
      lost(bufnr)
    end,
  })
end

return M
