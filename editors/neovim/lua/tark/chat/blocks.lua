---Turns one block of an answer into lines: a thought, a tool call or a notice. A block is one line until it is opened.
---Pure.
local figures = require('tark.figures')
local text = require('tark.chat.text')
local visible = require('tark.visible')
local workspace = require('tark.workspace')

local M = {}

local LONGEST_TITLE, LONGEST_ARGUMENTS = 500, 60 -- bytes
local MOST_LINES = 200 -- of a call's results or changes
local SIGNS = {
  pending = { '·', 'TarkToolRunning' },
  in_progress = { '●', 'TarkToolRunning' },
  waiting = { '?', 'TarkToolWaiting' },
  completed = { '✓', 'TarkToolDone' },
  failed = { '✗', 'TarkToolFailed' },
  rejected = { '✗', 'TarkToolFailed' },
  cancelled = { '-', 'TarkToolCancelled' },
}

---Adds at most `most` lines. If there are more, adds a line that says how many are missing.
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

---Lines of a tool's result, in which every character is visible.
---@param result string
---@return string[]
local function result_lines(result)
  return text.lines(visible.code((result:gsub('\r\n', '\n'))))
end

---No line of the diff can close the fence, because each line starts with a sign.
---@param out string[]
---@param diff { uri: string, hunks: { range?: lsp.Range, oldText: string, newText: string }[] }
local function add_diff(out, diff)
  local lines = {} ---@type string[]
  local function add_side(sign, source)
    for _, line in ipairs(source and source ~= '' and vim.split(source:gsub('\n$', ''), '\n') or {}) do
      table.insert(lines, sign .. visible.code(line))
    end
  end
  for _, hunk in ipairs(diff.hunks or {}) do
    local row = vim.tbl_get(hunk, 'range', 'start', 'line')
    table.insert(
      lines,
      ('@@ %s%s @@'):format(visible.line(workspace.display_name(diff.uri)), row and ':' .. row + 1 or '')
    )
    add_side('-', hunk.oldText)
    add_side('+', hunk.newText)
  end
  table.insert(out, '```diff')
  M.add_some(out, lines, MOST_LINES, '')
  table.insert(out, '```')
end

---@param block tark.Block
---@return string first line of its result
local function first_result_line(block)
  for _, part in ipairs(block.content or {}) do
    if part.type == 'text' then
      for line in part.text:gmatch('[^\n]+') do
        if line:find('%S') then
          return visible.line(visible.trim(line))
        end
      end
    end
  end
  return ''
end

---@param outcome tark.Outcome
---@return string figures such as `2 failed, 1 passed · exit 1 · 2.3 s`, `12 matches in 3 files`, `7 files`
local function outcome_text(outcome)
  local code, matches, files, more = outcome.exitCode, outcome.matches, outcome.files, outcome.more and '+' or ''
  local function some(count, one, many)
    return ('%d%s %s'):format(count, more, count == 1 and more == '' and one or many)
  end
  local found = files and (files > 0 and some(files, 'file', 'files') or 'no files')
  if matches then
    found = matches > 0 and some(matches, 'match', 'matches') .. ' in ' .. (found or 'no files') or 'no matches'
  end
  return table.concat(
    vim.tbl_filter(function(part)
      return part ~= ''
    end, {
      found or '',
      visible.line(outcome.counts or ''),
      not code and '' or code >= 0 and 'exit ' .. code or 'signal ' .. -code,
      outcome.seconds and ('%.1f s'):format(outcome.seconds) or '',
    }),
    ' · '
  )
end

---@param block tark.Block
---@return string
local function call_line(block)
  local title = visible.line(visible.trim(block.title or block.name or 'tool'))
  if title == block.name and (block.arguments or '') ~= '' then -- it has not started
    title = title .. ' ' .. visible.short(block.arguments, LONGEST_ARGUMENTS)
  end
  if block.status == 'waiting' then
    return title .. '  <CR> answers'
  elseif block.status == 'failed' or block.status == 'rejected' then
    local reason = first_result_line(block)
    return reason ~= '' and title .. ': ' .. reason or title
  end
  local outcome = outcome_text(block.outcome or {})
  return outcome ~= '' and title .. '  ' .. outcome or title
end

---Functions by kind that set the lines of a piece.
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
  local ran = block.status == 'completed' and (block.outcome or {}).exitCode
  local sign = SIGNS[ran and ran ~= 0 and 'failed' or block.status] or SIGNS.pending
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
      M.add_some(piece.lines, result_lines(part.text), MOST_LINES, '> ')
    end
  end
  if #(block.content or {}) == 0 and (block.arguments or '') ~= '' then
    table.insert(piece.lines, '')
    M.add_some(piece.lines, result_lines(block.arguments), MOST_LINES, '> ')
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
