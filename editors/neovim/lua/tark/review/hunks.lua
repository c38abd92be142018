---The hunks that wait for the person, in all files, and how they are called.
local state = require('tark.state')
local workspace = require('tark.workspace')

local M = {}

local LONGEST_TITLE = 80 -- bytes

---@class tark.Undecided a hunk, and where it was told of
---@field known tark.State
---@field uri string
---@field version? integer of the document that its range is of; nil: it is not open at the server
---@field hunk tark.Hunk
---@field typed_over? boolean the server is about to call it a conflict

---@param text string
---@return string[] lines without their ends
function M.lines(text)
  local lines = vim.split(text:gsub('\r\n?', '\n'), '\n', { plain = true })
  if lines[#lines] == '' then
    table.remove(lines)
  end
  return lines
end

---@param hunk tark.Hunk
---@return string[] lines that stand in its place as long as nobody changed them
function M.standing(hunk)
  return M.lines(hunk.applied and hunk.newText or hunk.oldText)
end

---@param hunk tark.Hunk
---@return integer first from 0
---@return integer count of the lines that its range says
function M.place(hunk)
  local range = hunk.range
  local last = range['end'].line + (range['end'].character > 0 and 1 or 0)
  return range.start.line, math.max(0, last - range.start.line)
end

M.buffer, M.name = workspace.buffer, workspace.name

---@param bufnr? integer nil: in all files
---@return tark.Undecided[] in the order in which they stand in their files
function M.undecided(bufnr)
  local found = {} ---@type tark.Undecided[]
  for _, known in ipairs(state.all()) do
    for uri, told in pairs(known.hunks) do
      if not bufnr or M.buffer(uri) == bufnr then
        for _, hunk in ipairs(told.hunks) do
          table.insert(found, { known = known, uri = uri, version = told.version, hunk = hunk })
        end
      end
    end
  end
  table.sort(found, function(one, other)
    if one.uri ~= other.uri then
      return one.uri < other.uri
    end
    if one.hunk.range.start.line ~= other.hunk.range.start.line then
      return one.hunk.range.start.line < other.hunk.range.start.line
    end
    return one.hunk.hunkId < other.hunk.hunkId
  end)
  return found
end

---@param waiting tark.Undecided[]
---@return string words `3 changes in 2 files`
function M.count(waiting)
  local files = {}
  for _, each in ipairs(waiting) do
    files[each.uri] = true
  end
  local counted = require('tark.figures').counted
  return ('%s in %s'):format(counted(#waiting, 'change'), counted(vim.tbl_count(files), 'file'))
end

---@param hunk tark.Hunk
---@return string `+2 -1`
function M.size(hunk)
  return ('+%d -%d'):format(#M.lines(hunk.newText), #M.lines(hunk.oldText))
end

---@param hunk tark.Hunk
---@return string? words what becomes of the file itself; nil: only lines are changed
function M.operation(hunk)
  if not hunk.operation then
    return nil
  elseif hunk.operation.kind == 'remove' then
    return ('%s this file (%s)'):format(hunk.applied and 'deleted' or 'deletes', M.size(hunk))
  end
  return ('%s this file to %s'):format(hunk.applied and 'moved' or 'moves', M.name(hunk.operation.target))
end

---@param hunk tark.Hunk
---@return string words one line for a list: `+2 -1 def area(radius):`
function M.title(hunk)
  local first = ''
  for _, line in ipairs(vim.list_extend(M.lines(hunk.newText), M.lines(hunk.oldText))) do
    if first == '' then
      first = require('tark.visible').trim(line)
    end
  end
  local words = M.operation(hunk)
    or M.size(hunk) .. ' ' .. require('tark.visible').line((require('tark.visible').cut(first, LONGEST_TITLE)))
  local prefix = { conflict = 'conflict: ', stale = 'not applied: ' }
  return (prefix[hunk.state] or '') .. words .. (hunk.outsideSelection and ' (outside the selection)' or '')
end

return M
