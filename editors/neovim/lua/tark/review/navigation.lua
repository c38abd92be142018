---From hunk to hunk, and on to the next file with some.
local hunks = require('tark.review.hunks')
local notify = require('tark.notify')
local selection = require('tark.review.selection')

local M = {}

local told_end ---@type string? where the person was told that there are no more in this file

---@param row integer from 0
local function jump(row)
  vim.cmd("normal! m'")
  row = math.min(row, vim.api.nvim_buf_line_count(0) - 1)
  vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  vim.cmd('normal! ^zv')
end

---@param uri string
---@param last boolean to its last hunk
local function enter(uri, last)
  local path = vim.fn.fnamemodify(vim.uri_to_fname(uri), ':.') -- a short name in the status line
  vim.cmd("normal! m'")
  local ok, problem = pcall(vim.cmd.edit, vim.fn.fnameescape(path))
  if not ok then
    return notify.warn((tostring(problem):gsub('^.*Vim%S*:', '')))
  end
  local rows = {}
  for _, each in ipairs(hunks.undecided(vim.api.nvim_get_current_buf())) do
    table.insert(rows, selection.row({ require('tark.review.drawing').place(each) }))
  end
  table.sort(rows)
  if #rows > 0 then
    jump(rows[last and #rows or 1])
  end
end

---The file with hunks that comes after this one, round to the first.
---@param step 1|-1
---@return string? uri
---@return string words
local function other_file(step)
  local own, uris, count = vim.api.nvim_get_current_buf(), {}, {}
  local here = 0
  for _, each in ipairs(hunks.undecided()) do
    if not count[each.uri] then
      table.insert(uris, each.uri)
      here = hunks.buffer(each.uri) == own and #uris or here
    end
    count[each.uri] = (count[each.uri] or 0) + 1
  end
  if #uris == 0 or (#uris == 1 and here == 1) then
    return nil, ''
  end
  local index = here == 0 and (step > 0 and 1 or #uris) or (here - 1 + step) % #uris + 1
  return uris[index], ('%s (%d)'):format(hunks.name(uris[index]), count[uris[index]])
end

---@param step 1|-1
---@param count integer
function M.go(step, count)
  local _, places = selection.here()
  local row = vim.fn.line('.') - 1
  local rows = vim.tbl_map(selection.row, places)
  local ahead = vim.tbl_filter(function(each)
    return (each - row) * step > 0
  end, rows)
  table.sort(ahead, function(one, other)
    return (one - other) * step < 0
  end)
  if #ahead > 0 then
    told_end = nil
    return jump(ahead[math.min(count, #ahead)])
  end
  local uri, words = other_file(step)
  local spot = ('%d:%d:%d'):format(vim.api.nvim_get_current_buf(), row, step)
  if uri and (#rows == 0 or told_end == spot) then
    told_end = nil
    return enter(uri, step < 0)
  elseif uri then
    told_end = spot
    return notify.say(('the %s change of this file; again: on to %s'):format(step > 0 and 'last' or 'first', words))
  elseif #rows == 0 then
    return notify.say('nothing to review')
  end
  jump(rows[step > 0 and 1 or #rows])
end

return M
