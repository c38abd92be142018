---The edits of a request as the whole diff: what becomes of each file, then line by line. Pure.
local visible = require('tark.visible')

local M = {}

local GROUPS = { ['-'] = 'TarkRemoved', ['+'] = 'TarkAdded' }
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

---@param into tark.Lines
---@param edits tark.DocumentHunks[]
---@param name fun(uri: string): string how a file is called
function M.add(into, edits, name)
  for _, document in ipairs(edits) do
    local file, crlf = visible.line(name(document.uri)), all_crlf(document)
    into:add({ 'file ', 'TarkLabel' }, { file, 'TarkFile' })
    for _, hunk in ipairs(document.hunks) do
      local words = operation(hunk, name, file)
      if words then
        into:add({ words, 'TarkRiskRisky' })
      end
      local lines = lines_of(hunk, crlf)
      if #lines > 0 then
        local outside = hunk.outsideSelection and { ', outside the selection', 'TarkRiskRisky' } or ''
        into:add({ ('line %d'):format(hunk.range.start.line + 1), 'TarkLabel' }, outside)
      end
      for _, line in ipairs(lines) do
        local group, shown = GROUPS[line:sub(1, 1)], visible.code(line)
        into:add(group and { shown, group } or shown)
      end
    end
    into:add('')
  end
end

return M
