---The edits of a request as the whole diff: what becomes of each file, then line by line. Pure.
local visible = require('tark.visible')

local M = {}

local GROUPS = { ['-'] = 'TarkRemoved', ['+'] = 'TarkAdded' }
local DECIDED = { accepted = true, rejected = true }
local NOT_MADE = { conflict = ', in conflict: not made by allowing', stale = ', stale: not made by allowing' }
local EVERYTHING = 1000000

---Line ends are left out where all are CRLF; where some differ, that is what is to be seen.
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
---@return string[] lines with ' ', '-' or '+' before each
local function lines_of(hunk, crlf)
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
---@return string? words nil: it is about lines
local function operation(hunk, name, file)
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
function M.decided(edits)
  local decided, all = 0, 0
  for _, document in ipairs(edits) do
    for _, hunk in ipairs(document.hunks) do
      decided, all = decided + (DECIDED[hunk.state] and 1 or 0), all + 1
    end
  end
  return decided, all
end

---@param edits tark.DocumentHunks[]
---@return string? uri of the first file with something to decide
---@return tark.Hunk? hunk
function M.first(edits)
  for _, document in ipairs(edits) do
    for _, hunk in ipairs(document.hunks) do
      if not DECIDED[hunk.state] then
        return document.uri, hunk
      end
    end
  end
end

---@param into tark.Lines
---@param hunk tark.Hunk
---@param crlf boolean
local function add_lines(into, hunk, crlf)
  local lines = lines_of(hunk, crlf)
  if #lines > 0 then
    local beside = (hunk.outsideSelection and ', outside the selection' or '') .. (NOT_MADE[hunk.state] or '')
    into:add({ ('line %d'):format(hunk.range.start.line + 1), 'TarkLabel' }, { beside, 'TarkRiskRisky' })
  end
  for _, line in ipairs(lines) do
    local group, shown = GROUPS[line:sub(1, 1)], visible.code(line)
    into:add(group and { shown, group } or shown)
  end
end

---What is decided already is left out, and counted.
---@param into tark.Lines
---@param edits tark.DocumentHunks[]
---@param name fun(uri: string): string how a file is called
function M.add(into, edits, name)
  for _, document in ipairs(edits) do
    local file, crlf = visible.line(name(document.uri)), all_crlf(document)
    if M.decided({ document }) < #document.hunks then
      into:add({ 'file ', 'TarkLabel' }, { file, 'TarkFile' })
    end
    for _, hunk in ipairs(document.hunks) do
      local words = not DECIDED[hunk.state] and operation(hunk, name, file)
      if words then
        into:add({ words, 'TarkRiskRisky' })
      end
      if not DECIDED[hunk.state] then
        add_lines(into, hunk, crlf)
      end
    end
  end
  local decided, all = M.decided(edits)
  if decided > 0 then
    into:add({ ('%d of %d decided already, this is the rest'):format(decided, all), 'TarkLabel' })
  end
  into:add('')
end

return M
