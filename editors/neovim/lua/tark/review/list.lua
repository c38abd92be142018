---Shows all undecided hunks, of open and closed files, as a quickfix list, and keeps it up to date.
local drawing = require('tark.review.drawing')
local hunks = require('tark.review.hunks')
local lifecycle = require('tark.server.lifecycle')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local selection = require('tark.review.selection')
local state = require('tark.state')
local state_hunks = require('tark.state.hunks')

local M = {}

local KNOWN_MS = 2000

local id ---@type integer? of the plugin's list
local scheduled = false

---@param entries tark.UndecidedHunk[]
---@return table[]
local function list_items(entries)
  return vim.tbl_map(function(entry)
    return {
      filename = vim.uri_to_fname(entry.uri),
      lnum = selection.row({ drawing.place(entry) }) + 1,
      col = 1,
      type = entry.hunk.state == 'pending' and 'I' or 'W',
      text = hunks.title(entry.hunk),
      user_data = entry.hunk.hunkId,
    }
  end, entries)
end

---@return boolean is the plugin's list the current one?
local function is_current()
  return id ~= nil and vim.fn.getqflist({ id = 0 }).id == id
end

local function refresh()
  scheduled = false
  if not is_current() then
    return
  end
  local entries = hunks.undecided()
  local former = vim.fn.getqflist({ id = id, idx = 0, items = 1 })
  local new = list_items(entries)
  local is_same = #new == #former.items
  for index, item in ipairs(is_same and new or {}) do
    local old = former.items[index]
    is_same = is_same and old.user_data == item.user_data and old.lnum == item.lnum and old.text == item.text
  end
  if not is_same then
    local what = { id = id, items = new, title = 'Tark: ' .. hunks.describe_count(entries) }
    vim.fn.setqflist({}, 'r', what)
    if #new > 0 then
      vim.fn.setqflist({}, 'a', { id = id, idx = math.max(1, math.min(former.idx, #new)) })
    end
  end
end

local function schedule_refresh()
  if id and not scheduled then
    scheduled = true
    vim.schedule(function()
      local ok, problem = xpcall(refresh, debug.traceback)
      if not ok then
        scheduled = false
        notify.internal_error(problem)
      end
    end)
  end
end

---@param entries tark.UndecidedHunk[]
local function show(entries)
  local what = { items = list_items(entries), title = 'Tark: ' .. hunks.describe_count(entries) }
  what.id = is_current() and id or nil
  vim.fn.setqflist({}, what.id and 'r' or ' ', what)
  id = vim.fn.getqflist({ id = 0 }).id
  vim.cmd('botright copen')
end

---Calls `done` once the plugin knows hunks, or after some time.
---@param done fun()
local function when_known(done)
  local stop, is_done
  local function finish()
    if not is_done then
      is_done = true
      stop()
      done()
    end
  end
  stop = state.on('hunks', vim.schedule_wrap(finish))
  vim.defer_fn(finish, KNOWN_MS)
end

---Asks the server for hunks. It first restores the hunks of an earlier server. Starts a server if none runs.
---@param done fun()
local function when_restored(done)
  lifecycle.ensure_server(nil, function(problem, client)
    if not client then
      return notify.warn(problem or 'no server is running')
    end
    requests.send_command(client, 'tark.hunk.list', nil, function(refusal, answer)
      if refusal then
        return notify.warn(refusal)
      end
      local has_undecided = vim.iter(answer.hunks):any(function(hunk)
        return state_hunks.UNDECIDED[hunk.state]
      end)
      if has_undecided and #hunks.undecided() == 0 then
        return when_known(done)
      end
      done()
    end)
  end)
end

function M.open()
  local entries = hunks.undecided()
  if #entries > 0 then
    return show(entries)
  end
  when_restored(function()
    entries = hunks.undecided()
    if #entries == 0 then
      return notify.info('nothing to review')
    end
    show(entries)
  end)
end

state.on('hunks', schedule_refresh)

return M
