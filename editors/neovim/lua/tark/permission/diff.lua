---The edits of a request as a complete diff: what happens to each file, then its lines. Pure.
local visible = require('tark.visible')

local M = {}

local GROUPS = { ['-'] = 'TarkRemoved', ['+'] = 'TarkAdded' }
local DECIDED = { accepted = true, rejected = true }
local NOT_APPLIED =
  { conflict = ', in conflict: not applied if you allow this', stale = ', stale: not applied if you allow this' }
local EVERYTHING = 1000000

---If all line endings are CRLF, the diff omits them. If some differ, it shows them.
---@param document tark.DocumentHunks
local function all_crlf(document)
  for _, hunk in ipairs(document.hunks) do
    for _, text in ipairs({ hunk.oldText, hunk.newText }) do
      if select(2, text:gsub('\n', '')) ~= select(2, text:gsub('\r\n', '')) then
        return false
      end
    end
  end
  return true
end

---@param hunk tark.Hunk
---@param crlf boolean
---@return string[] lines that start with ' ', '-' or '+'
local function diff_lines(hunk, crlf)
  local old, new = hunk.oldText, hunk.newText
  if crlf then
    old, new = old:gsub('\r\n', '\n'), new:gsub('\r\n', '\n')
  end
  local text = vim.diff(old, new, { ctxlen = EVERYTHING }) --[[@as string]]
  local lines = {}
  for line in text:gmatch('[^\n]+') do
    if not line:find('^@@') then
      table.insert(lines, line)
    end
  end
  return lines
end

---@param hunk tark.Hunk
---@param name fun(uri: string): string
---@param file string
---@return string? what happens to the file; nil: only lines change
local function describe_operation(hunk, name, file)
  if not hunk.operation then
    return nil
  elseif hunk.operation.kind == 'remove' then
    return 'delete ' .. file
  end
  return ('move %s to %s'):format(file, hunk.operation.target and visible.line(name(hunk.operation.target)) or '?')
end

---@param edits tark.DocumentHunks[]
---@return integer decided
---@return integer all
function M.count_decided(edits)
  local decided, all = 0, 0
  for _, document in ipairs(edits) do
    for _, hunk in ipairs(document.hunks) do
      decided, all = decided + (DECIDED[hunk.state] and 1 or 0), all + 1
    end
  end
  return decided, all
end

---@param edits tark.DocumentHunks[]
---@return string? uri of the first undecided hunk
---@return tark.Hunk? hunk
function M.first_undecided(edits)
  for _, document in ipairs(edits) do
    for _, hunk in ipairs(document.hunks) do
      if not DECIDED[hunk.state] then
        return document.uri, hunk
      end
    end
  end
end

---@param out tark.StyledLines
---@param hunk tark.Hunk
---@param crlf boolean
local function add_lines(out, hunk, crlf)
  local lines = diff_lines(hunk, crlf)
  if #lines > 0 then
    local notes = (hunk.outsideSelection and ', outside the selection' or '') .. (NOT_APPLIED[hunk.state] or '')
    out:add({ ('line %d'):format(hunk.range.start.line + 1), 'TarkLabel' }, { notes, 'TarkRiskRisky' })
  end
  for _, line in ipairs(lines) do
    local group, shown = GROUPS[line:sub(1, 1)], visible.code(line)
    out:add(group and { shown, group } or shown)
  end
end

---Adds the diff. Decided hunks are only counted.
---@param out tark.StyledLines
---@param edits tark.DocumentHunks[]
---@param name fun(uri: string): string the display name of a file
function M.add_diff(out, edits, name)
  for _, document in ipairs(edits) do
    local file, crlf = visible.line(name(document.uri)), all_crlf(document)
    if M.count_decided({ document }) < #document.hunks then
      out:add({ 'file ', 'TarkLabel' }, { file, 'TarkFile' })
    end
    for _, hunk in ipairs(document.hunks) do
      local description = not DECIDED[hunk.state] and describe_operation(hunk, name, file)
      if description then
        out:add({ description, 'TarkRiskRisky' })
      end
      if not DECIDED[hunk.state] then
        add_lines(out, hunk, crlf)
      end
    end
  end
  local decided, all = M.count_decided(edits)
  if decided > 0 then
    out:add({ ('%d of %d decided already, this is the rest'):format(decided, all), 'TarkLabel' })
  end
  out:add('')
end

return M
