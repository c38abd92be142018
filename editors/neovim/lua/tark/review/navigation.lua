---Goes from hunk to hunk, and on to the next file with hunks.
local drawing = require('tark.review.drawing')
local hunks = require('tark.review.hunks')
local notify = require('tark.notify')
local selection = require('tark.review.selection')
local workspace = require('tark.workspace')

local M = {}

local last_notice ---@type string? position of the last message that this file has no more hunks

---@param row integer from 0
local function jump_to(row)
  vim.cmd("normal! m'")
  row = math.min(row, vim.api.nvim_buf_line_count(0) - 1)
  vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  vim.cmd('normal! ^zv')
end

---@param uri string
---@param last boolean to its last hunk instead of the first
local function open_file(uri, last)
  local path = vim.fn.fnamemodify(vim.uri_to_fname(uri), ':.') -- a short name for the status line
  vim.cmd("normal! m'")
  local ok, problem = pcall(vim.cmd.edit, vim.fn.fnameescape(path))
  if not ok then
    return notify.warn((tostring(problem):gsub('^.*Vim%S*:', '')))
  end
  local rows = {}
  for _, entry in ipairs(hunks.undecided(vim.api.nvim_get_current_buf())) do
    table.insert(rows, selection.row({ drawing.place(entry) }))
  end
  table.sort(rows)
  if #rows > 0 then
    jump_to(rows[last and #rows or 1])
  end
end

---The next file that has hunks. After the last one comes the first.
---@param step 1|-1
---@return string? uri nil: there is no other
---@return string label
local function other_file(step)
  local current, uris, count = vim.api.nvim_get_current_buf(), {}, {}
  local here = 0
  for _, entry in ipairs(hunks.undecided()) do
    if not count[entry.uri] then
      table.insert(uris, entry.uri)
      here = workspace.find_buffer(entry.uri) == current and #uris or here
    end
    count[entry.uri] = (count[entry.uri] or 0) + 1
  end
  if #uris == 0 or (#uris == 1 and here == 1) then
    return nil, ''
  end
  local index = here == 0 and (step > 0 and 1 or #uris) or (here - 1 + step) % #uris + 1
  return uris[index], ('%s (%d)'):format(workspace.display_name(uris[index]), count[uris[index]])
end

---@param step 1|-1
---@param count integer
function M.go_to_hunk(step, count)
  local _, places = selection.hunks_of_buffer()
  local row = vim.fn.line('.') - 1
  local rows = vim.tbl_map(selection.row, places)
  local ahead = vim.tbl_filter(function(other_row)
    return (other_row - row) * step > 0
  end, rows)
  table.sort(ahead, function(one, other)
    return (one - other) * step < 0
  end)
  if #ahead > 0 then
    last_notice = nil
    return jump_to(ahead[math.min(count, #ahead)])
  end
  local uri, label = other_file(step)
  local position = ('%d:%d:%d'):format(vim.api.nvim_get_current_buf(), row, step)
  if uri and (#rows == 0 or last_notice == position) then
    last_notice = nil
    return open_file(uri, step < 0)
  elseif uri then
    last_notice = position
    return notify.info(('the %s change of this file; again: on to %s'):format(step > 0 and 'last' or 'first', label))
  elseif #rows == 0 then
    return notify.info('nothing to review')
  end
  jump_to(rows[step > 0 and 1 or #rows])
end

return M
