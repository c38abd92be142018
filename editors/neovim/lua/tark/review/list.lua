---All hunks that wait, of open and closed files, as a quickfix list that is kept up to date.
local hunks = require('tark.review.hunks')
local notify = require('tark.notify')
local state = require('tark.state')

local M = {}

local id ---@type integer? of our list
local scheduled = false

---@param waiting tark.Undecided[]
---@return table[]
local function items(waiting)
  local drawing = require('tark.review.drawing')
  return vim.tbl_map(function(each)
    return {
      filename = vim.uri_to_fname(each.uri),
      lnum = require('tark.review.selection').row({ drawing.place(each) }) + 1,
      col = 1,
      type = each.hunk.state == 'pending' and 'I' or 'W',
      text = hunks.title(each.hunk),
      user_data = each.hunk.hunkId,
    }
  end, waiting)
end

---@return boolean is our list the one that the person looks at?
local function is_current()
  return id ~= nil and vim.fn.getqflist({ id = 0 }).id == id
end

local function refresh()
  scheduled = false
  if not is_current() then
    return
  end
  local waiting = hunks.undecided()
  local now = vim.fn.getqflist({ id = id, idx = 0, items = 1 })
  local new = items(waiting)
  local same = #new == #now.items
  for index, each in ipairs(same and new or {}) do
    local old = now.items[index]
    same = same and old.user_data == each.user_data and old.lnum == each.lnum and old.text == each.text
  end
  if not same then
    local what = { id = id, items = new, title = 'Tark: ' .. hunks.count(waiting) }
    vim.fn.setqflist({}, 'r', what)
    if #new > 0 then
      vim.fn.setqflist({}, 'a', { id = id, idx = math.max(1, math.min(now.idx, #new)) })
    end
  end
end

local function refresh_soon()
  if id and not scheduled then
    scheduled = true
    vim.schedule(function()
      local ok, problem = xpcall(refresh, debug.traceback)
      if not ok then
        scheduled = false
        notify.bug(problem)
      end
    end)
  end
end

function M.open()
  local waiting = hunks.undecided()
  if #waiting == 0 then
    return notify.say('nothing to review')
  end
  local what = { items = items(waiting), title = 'Tark: ' .. hunks.count(waiting) }
  what.id = is_current() and id or nil
  vim.fn.setqflist({}, what.id and 'r' or ' ', what)
  id = vim.fn.getqflist({ id = 0 }).id
  vim.cmd('botright copen')
end

state.on('hunks', refresh_soon)

return M
