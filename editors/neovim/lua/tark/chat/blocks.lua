---One block of an answer -> its lines: a thought, a tool call, a notice; one line each until it is opened. Pure.
local figures = require('tark.figures')
local text = require('tark.chat.text')
local visible = require('tark.visible')

local M = {}

local LONGEST_TITLE, LONGEST_ARGUMENTS = 500, 60 -- bytes
local MOST_LINES = 200 -- of what a call found or changed
local SIGNS = {
  pending = { '·', 'TarkToolRunning' },
  in_progress = { '●', 'TarkToolRunning' },
  waiting = { '?', 'TarkToolWaiting' },
  completed = { '✓', 'TarkToolDone' },
  failed = { '✗', 'TarkToolFailed' },
  rejected = { '✗', 'TarkToolFailed' },
  cancelled = { '-', 'TarkToolCancelled' },
}

---Adds lines, of many only the first ones and how many more there are.
---@param out string[]
---@param lines string[]
---@param most integer
---@param prefix string
function M.add_some(out, lines, most, prefix)
  for index = 1, math.min(#lines, most) do
    table.insert(out, prefix .. lines[index])
  end
  if #lines > most then
    table.insert(out, prefix .. ('… %s more'):format(figures.counted(#lines - most, 'line')))
  end
end

---What a tool gave, of which each character is to be seen.
---@param words string
---@return string[]
local function found_lines(words)
  return text.lines(visible.code((words:gsub('\r\n', '\n'))))
end

---No line of it can close the fence: each begins with a sign.
---@param out string[]
---@param diff { uri: string, hunks: { range?: lsp.Range, oldText: string, newText: string }[] }
local function add_diff(out, diff)
  local lines = {} ---@type string[]
  local function side(sign, words)
    for _, line in ipairs(words and words ~= '' and vim.split(words:gsub('\n$', ''), '\n') or {}) do
      table.insert(lines, sign .. visible.code(line))
    end
  end
  for _, hunk in ipairs(diff.hunks or {}) do
    local row = vim.tbl_get(hunk, 'range', 'start', 'line')
    table.insert(
      lines,
      ('@@ %s%s @@'):format(text.one_line(require('tark.workspace').name(diff.uri)), row and ':' .. row + 1 or '')
    )
    side('-', hunk.oldText)
    side('+', hunk.newText)
  end
  table.insert(out, '```diff')
  M.add_some(out, lines, MOST_LINES, '')
  table.insert(out, '```')
end

---@param block tark.Block
---@return string
local function outcome(block)
  for _, part in ipairs(block.content or {}) do
    if part.type == 'text' then
      for line in part.text:gmatch('[^\n]+') do
        if line:find('%S') then
          return text.one_line(line)
        end
      end
    end
  end
  return ''
end

---@param block tark.Block
---@return string
local function call_line(block)
  local title = text.one_line(block.title or block.name or 'tool')
  if title == block.name and (block.arguments or '') ~= '' then -- it has not begun
    title = title .. ' ' .. visible.short(block.arguments, LONGEST_ARGUMENTS)
  end
  if block.status == 'waiting' then
    return title .. '  <CR> answers'
  elseif block.status == 'failed' or block.status == 'rejected' then
    local why = outcome(block)
    return why ~= '' and title .. ': ' .. why or title
  end
  return title
end

---By kind: gives the piece its lines.
---@type table<string, fun(piece: tark.Piece, block: tark.Block, opened: boolean)>
M.draw = {}

function M.draw.thinking(piece, block, opened)
  local _, breaks = (block.text:match('^.*%S') or ''):gsub('\n', '')
  piece.lines = { ('… thinking (%s)'):format(figures.counted(breaks + 1, 'line')) }
  piece.marks = { { row = 0, group = 'TarkThinking' } }
  piece.folds, piece.row = true, not opened
  if opened then
    M.add_some(piece.lines, text.lines(block.text), math.huge, '> ')
  end
end

function M.draw.toolCall(piece, block, opened)
  local sign = SIGNS[block.status] or SIGNS.pending
  piece.lines = { sign[1] .. ' ' .. visible.cut(call_line(block), LONGEST_TITLE) }
  piece.marks = { { row = 0, group = sign[2], stop = #sign[1] }, { row = 0, group = 'TarkTool' } }
  piece.folds, piece.row = true, not opened
  if not opened then
    return
  end
  for _, part in ipairs(block.content or {}) do
    table.insert(piece.lines, '')
    if part.type == 'diff' then
      add_diff(piece.lines, part)
    elseif part.type == 'text' then
      M.add_some(piece.lines, found_lines(part.text), MOST_LINES, '> ')
    end
  end
  if #(block.content or {}) == 0 and (block.arguments or '') ~= '' then
    table.insert(piece.lines, '')
    M.add_some(piece.lines, found_lines(block.arguments), MOST_LINES, '> ')
  end
end

function M.draw.notice(piece, block)
  local group = block.level == 'error' and 'TarkError' or block.level == 'warning' and 'TarkWarning' or 'TarkNotice'
  piece.lines, piece.marks = {}, {}
  for index, line in ipairs(text.lines(block.message or '')) do
    table.insert(piece.lines, (index == 1 and '! ' or '  ') .. line)
    table.insert(piece.marks, { row = index - 1, group = group })
  end
  piece.row = true
end

return M
