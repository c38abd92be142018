---Records which lines of a buffer changed since a version of it. While the user types, the server reports the places of
---hunks in a text that is a few keys old. They are mapped to the current text.
local M = {}

---Enough for minutes of typing. Hunks of older versions are drawn with the next update.
local MOST = 1000 -- an even number

---@class tark.LineChange lines [first, last) became lines [first, new_last)
---@field tick integer the version of the buffer after it
---@field first integer
---@field last integer
---@field new_last integer

---@class tark.ChangeListener
---@field changed fun(bufnr: integer, first: integer, new_last: integer) called during the change: must not edit text
---@field lost fun(bufnr: integer) the text was read again, or is gone

---@class tark.ChangeLog
---@field since integer the version before the first recorded change
---@field changes tark.LineChange[]

local logs = {} ---@type table<integer, tark.ChangeLog> by buffer
local listeners = {} ---@type tark.ChangeListener[]

---Maps a place in an older text to the current text. Pure.
---@param changes tark.LineChange[]
---@param version integer
---@param start integer first line, from 0
---@param count integer number of lines; 0: between two lines
---@return integer? start nil: the lines themselves were changed
function M.map_through(changes, version, start, count)
  for _, change in ipairs(changes) do
    if change.tick > version then
      -- If two insertions are at the same place, the server keeps its own above.
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
---@return integer version of the current text, as the language client counts
function M.version(bufnr)
  return vim.lsp.util.buf_versions[bufnr]
end

---@param bufnr integer
---@param version integer to which the server refers
---@param start integer
---@param count integer
---@return integer? start in the current text; nil: unknown
function M.current_start(bufnr, version, start, count)
  local log = logs[bufnr]
  if version == M.version(bufnr) then
    return start
  end
  return log and version >= log.since and M.map_through(log.changes, version, start, count) or nil
end

---@param listener tark.ChangeListener
function M.listen(listener)
  table.insert(listeners, listener)
end

local function emit_lost(bufnr)
  for _, listener in ipairs(listeners) do
    listener.lost(bufnr)
  end
end

---Starts to record the changes of a buffer.
---@param bufnr integer
function M.record_changes(bufnr)
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
      for _, listener in ipairs(listeners) do
        listener.changed(bufnr, first, new_last)
      end
    end,
    on_reload = function()
      logs[bufnr] = { since = 0, changes = {} } -- the server gets it as a new document, whose versions count from 0
      emit_lost(bufnr)
    end,
    on_detach = function()
      logs[bufnr] = nil
      emit_lost(bufnr)
    end,
  })
end

return M
