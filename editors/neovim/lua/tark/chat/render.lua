---A turn -> pieces of lines with marks: what the chat shows of it. Pure: windows and buffers are view.lua's.
local figures = require('tark.figures')
local text = require('tark.chat.text')

local M = {}

---What is drawn, opened and closed as one.
---@class tark.Piece
---@field kind 'prompt'|'answer'|'text'|'thinking'|'toolCall'|'notice'|'plan'|'ending'
---@field key string the same after the session is loaded anew
---@field turn tark.Turn
---@field block? tark.Block
---@field lines string[] from line `stable` on
---@field stable integer lines that are as they were drawn, since a text only grows
---@field marks tark.Mark[]
---@field folds boolean can it be opened and closed?
---@field row boolean one of several that stand together without blank lines
---@field cursor? tark.TextCursor
---@field length? integer bytes of the text that is drawn

---@class tark.Mark
---@field row integer of the piece, from 0
---@field group string
---@field stop? integer byte column where it ends; nil: the whole line

local MOST_PROMPT_LINES = 20
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
local PLAN_SIGNS = { completed = 'x' }
local STOPS = {
  cancelled = 'cancelled',
  max_tokens = 'the answer was cut: it reached its longest',
  max_turn_requests = 'stopped at the limit of requests',
  budget = 'stopped at the limit of cost',
  refusal = 'the model refused',
}

---@param count integer
---@param noun string
local function counted(count, noun)
  return ('%d %s%s'):format(count, noun, count == 1 and '' or 's')
end

---Adds lines, of many only the first ones and how many more there are.
---@param out string[]
---@param lines string[]
---@param most integer
---@param prefix string
local function add_some(out, lines, most, prefix)
  for index = 1, math.min(#lines, most) do
    table.insert(out, prefix .. lines[index])
  end
  if #lines > most then
    table.insert(out, prefix .. ('… %s more'):format(counted(#lines - most, 'line')))
  end
end

---@param uri string
local function shown_path(uri)
  local ok, path = pcall(vim.uri_to_fname, uri)
  return text.one_line(ok and vim.fn.fnamemodify(path, ':.') or uri)
end

---No line of it can close the fence: each begins with a sign.
---@param out string[]
---@param diff { uri: string, hunks: { range?: lsp.Range, oldText: string, newText: string }[] }
local function add_diff(out, diff)
  local lines = {} ---@type string[]
  local function side(sign, words)
    for _, line in ipairs(words and words ~= '' and vim.split(words:gsub('\n$', ''), '\n') or {}) do
      table.insert(lines, sign .. text.clean(line))
    end
  end
  for _, hunk in ipairs(diff.hunks or {}) do
    local row = vim.tbl_get(hunk, 'range', 'start', 'line')
    table.insert(lines, ('@@ %s%s @@'):format(shown_path(diff.uri), row and ':' .. row + 1 or ''))
    side('-', hunk.oldText)
    side('+', hunk.newText)
  end
  table.insert(out, '```diff')
  add_some(out, lines, MOST_LINES, '')
  table.insert(out, '```')
end

---@param block tark.Block
---@return string
local function outcome(block)
  for _, part in ipairs(block.content or {}) do
    if part.type == 'text' then
      return text.one_line((part.text:match('[^\n]*%S[^\n]*') or ''))
    end
  end
  return ''
end

---@param block tark.Block
---@return string
local function call_line(block)
  local title = text.one_line(block.title or block.name or 'tool')
  if block.status == 'waiting' then
    return title .. ' (waits for you: <CR> to answer)'
  elseif block.status == 'failed' or block.status == 'rejected' then
    local why = outcome(block)
    return why ~= '' and title .. ': ' .. why or title
  end
  return title
end

local blocks = {} ---@type table<string, fun(piece: tark.Piece, block: tark.Block, opened: boolean)>

function blocks.thinking(piece, block, opened)
  local _, breaks = block.text:gsub('%s+$', ''):gsub('\n', '')
  piece.lines = { ('… thinking (%s)'):format(counted(breaks + 1, 'line')) }
  piece.marks = { { row = 0, group = 'TarkThinking' } }
  piece.folds, piece.row = true, not opened
  if opened then
    add_some(piece.lines, text.lines(block.text), math.huge, '> ')
  end
end

function blocks.toolCall(piece, block, opened)
  local sign = SIGNS[block.status] or SIGNS.pending
  piece.lines = { sign[1] .. ' ' .. call_line(block):sub(1, 500) }
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
      add_some(piece.lines, text.lines(part.text), MOST_LINES, '> ')
    end
  end
  if #(block.content or {}) == 0 and (block.arguments or '') ~= '' then
    table.insert(piece.lines, '')
    add_some(piece.lines, text.lines(block.arguments), MOST_LINES, '> ')
  end
end

function blocks.notice(piece, block)
  local group = block.level == 'error' and 'TarkError' or block.level == 'warning' and 'TarkWarning' or 'TarkNotice'
  piece.lines, piece.marks = {}, {}
  for index, line in ipairs(text.lines(block.message or '')) do
    table.insert(piece.lines, (index == 1 and '! ' or '  ') .. line)
    table.insert(piece.marks, { row = index - 1, group = group })
  end
  piece.row = true
end

---@param turn tark.Turn
---@return string[] lines
---@return tark.Mark[] marks
local function ending(turn)
  local lines, marks = {}, {}
  local function add(line, group)
    table.insert(marks, { row = #lines, group = group })
    table.insert(lines, text.one_line(line))
  end
  if turn.state == 'sending' then
    add('sending…', 'TarkUsage')
  elseif turn.state == 'queued' then
    add('waits for the turn before it', 'TarkUsage')
  elseif turn.state == 'ended' then
    if turn.error then
      add('✗ ' .. turn.error.message, 'TarkError')
      if (turn.error.hint or '') ~= '' then
        add(turn.error.hint, 'TarkUsage')
      end
    end
    local usage = turn.usage or {}
    local tokens = (usage.inputTokens or 0) + (usage.outputTokens or 0)
    local stop = turn.stopReason
    local line = figures.row(
      stop ~= 'error' and stop ~= 'end_turn' and (STOPS[stop] or stop) or nil,
      #(turn.edits or {}) > 0 and counted(#turn.edits, 'edit') or nil,
      tokens > 0 and figures.short(tokens) .. ' tokens' or nil,
      type(usage.costUsd) == 'number' and usage.costUsd > 0 and figures.money(usage.costUsd) or nil
    )
    if line ~= '' then
      add(line, 'TarkUsage')
    end
  end
  return lines, marks
end

---@param turn tark.Turn
---@param opened fun(key: string): boolean
---@param before? tark.Piece[] those of the last time, whose texts are gone on with
---@return tark.Piece[]
function M.turn(turn, opened, before)
  local pieces = {} ---@type tark.Piece[]

  ---@return tark.Piece
  local function piece(kind, key, block)
    local new = { kind = kind, key = turn.turnId .. '/' .. key, turn = turn, block = block }
    new.lines, new.marks, new.stable, new.folds, new.row = {}, {}, 0, false, false
    return new
  end

  ---Blank lines stand around everything but rows of calls.
  local function add(new)
    if #new.lines == 0 and new.stable == 0 then
      return
    end
    local last = pieces[#pieces]
    if new.stable > 0 then
      new.stable = new.stable + 1
    elseif not (last and last.row and new.row) then
      table.insert(new.lines, 1, '')
      for _, mark in ipairs(new.marks) do
        mark.row = mark.row + 1
      end
    end
    table.insert(pieces, new)
  end

  ---Gone on with where it stood: a long answer grows many times a second.
  local function say(new, block)
    local old = before and before[#pieces + 1]
    local cursor = old and old.block == block and old.length <= #block.text and old.cursor or text.start()
    new.stable, new.length = cursor.count, #block.text
    new.lines, new.cursor = text.advance(cursor, block.text)
  end

  local function prompt(key, words, block)
    local new = piece('prompt', key, block)
    new.lines, new.marks = { '## You', '' }, { { row = 0, group = 'TarkYou' } }
    local lines = text.lines(words)
    new.folds = #lines > MOST_PROMPT_LINES
    add_some(new.lines, lines, (opened(new.key) or not new.folds) and math.huge or MOST_PROMPT_LINES, '')
    if #lines == 0 then
      new.lines[3] = ('(%s)'):format(turn.turnKind or 'no words')
    end
    add(new)
  end

  prompt('prompt', turn.prompt)
  local answered = false
  for index, block in ipairs(turn.blocks) do
    local key = block.toolCallId or tostring(index)
    if block.kind == 'prompt' then
      prompt(key, block.text, block)
      answered = false
    else
      if not answered then
        local heading = piece('answer', key .. '/answer')
        heading.lines, heading.marks = { '## Tark' }, { { row = 0, group = 'TarkTark' } }
        add(heading)
        answered = true
      end
      local new = piece(block.kind, key, block)
      if block.kind == 'text' then
        say(new, block)
      elseif blocks[block.kind] then
        blocks[block.kind](new, block, opened(new.key))
      end
      add(new)
    end
  end
  local plan = piece('plan', 'plan')
  for index, entry in ipairs(turn.plan or {}) do
    plan.lines[index] = ('- [%s] %s'):format(PLAN_SIGNS[entry.status] or ' ', text.one_line(entry.content))
    if entry.status == 'in_progress' then
      table.insert(plan.marks, { row = index - 1, group = 'TarkToolRunning' })
    end
  end
  add(plan)
  local last = piece('ending', 'ending')
  last.lines, last.marks = ending(turn)
  add(last)
  return pieces
end

return M
