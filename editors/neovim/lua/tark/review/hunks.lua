---The undecided hunks in all files, and descriptions of them.
local figures = require('tark.figures')
local state = require('tark.state')
local visible = require('tark.visible')
local workspace = require('tark.workspace')

local M = {}

local LONGEST_TITLE = 80 -- bytes

---@class tark.UndecidedHunk a hunk, and its document
---@field server_state tark.State
---@field uri string
---@field version? integer of the document to which its range refers; nil: the server does not have it open
---@field hunk tark.Hunk
---@field typed_over? boolean the user changed its lines, and the server is about to report a conflict

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
---@return string[] lines that the text has at the hunk's place if nobody has changed them
function M.current_lines(hunk)
  return M.lines(hunk.applied and hunk.newText or hunk.oldText)
end

---@param hunk tark.Hunk
---@return integer first from 0
---@return integer count of lines in its range
function M.lines_of_range(hunk)
  local range = hunk.range
  local last = range['end'].line + (range['end'].character > 0 and 1 or 0)
  return range.start.line, math.max(0, last - range.start.line)
end

---@param bufnr? integer nil: in all files
---@return tark.UndecidedHunk[] in the order of files and lines
function M.undecided(bufnr)
  local found = {} ---@type tark.UndecidedHunk[]
  for _, server_state in ipairs(state.all()) do
    for uri, document in pairs(server_state.hunks) do
      if not bufnr or workspace.find_buffer(uri) == bufnr then
        for _, hunk in ipairs(document.hunks) do
          table.insert(found, { server_state = server_state, uri = uri, version = document.version, hunk = hunk })
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

---@param entries tark.UndecidedHunk[]
---@return string `3 changes in 2 files`
function M.describe_count(entries)
  local files = {}
  for _, entry in ipairs(entries) do
    files[entry.uri] = true
  end
  return ('%s in %s'):format(figures.counted(#entries, 'change'), figures.counted(vim.tbl_count(files), 'file'))
end

---@class tark.Verbs
---@field accept string
---@field reject string
---@field accepted string
---@field rejected string

local APPLIED = { accept = 'keep', reject = 'undo', accepted = 'kept', rejected = 'undone' }
local PROPOSED = { accept = 'accept', reject = 'reject', accepted = 'accepted', rejected = 'rejected' }

---@param hunk_list tark.Hunk[]
---@return tark.Verbs the names of the decisions: hunks that are already applied are kept or undone
function M.verbs(hunk_list)
  for _, hunk in ipairs(hunk_list) do
    if not hunk.applied or hunk.state ~= 'pending' then
      return PROPOSED
    end
  end
  return APPLIED
end

---@param hunk tark.Hunk
---@return string `+2 -1`
function M.size(hunk)
  return ('+%d -%d'):format(#M.lines(hunk.newText), #M.lines(hunk.oldText))
end

---@param hunk tark.Hunk
---@return string? what happens to the file itself; nil: only lines change
function M.describe_operation(hunk)
  if not hunk.operation then
    return nil
  elseif hunk.operation.kind == 'remove' then
    return ('%s this file (%s)'):format(hunk.applied and 'deleted' or 'deletes', M.size(hunk))
  end
  return ('%s this file to %s'):format(
    hunk.applied and 'moved' or 'moves',
    visible.line(workspace.display_name(hunk.operation.target))
  )
end

---@param hunk tark.Hunk
---@return string one line for a list: `+2 -1 def area(radius):`
function M.title(hunk)
  local first = ''
  for _, line in ipairs(vim.list_extend(M.lines(hunk.newText), M.lines(hunk.oldText))) do
    if first == '' then
      first = visible.trim(line)
    end
  end
  local description = M.describe_operation(hunk)
    or M.size(hunk) .. ' ' .. visible.line((visible.cut(first, LONGEST_TITLE)))
  local prefix = { conflict = 'conflict: ', stale = 'not applied: ' }
  return (prefix[hunk.state] or '') .. description .. (hunk.outsideSelection and ' (outside the selection)' or '')
end

return M
