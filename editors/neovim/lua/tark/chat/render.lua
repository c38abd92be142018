---Turns a turn into pieces: lines with marks, as the chat shows them. Pure: windows and buffers belong to view.lua.
local blocks = require('tark.chat.blocks')
local figures = require('tark.figures')
local text = require('tark.chat.text')

local M = {}

---A unit that is drawn, opened and closed.
---@class tark.Piece
---@field kind 'prompt'|'answer'|'text'|'thinking'|'toolCall'|'notice'|'plan'|'ending'
---@field key string the same after the session is loaded again
---@field turn tark.Turn
---@field block? tark.Block
---@field lines string[] its lines from line `stable` on
---@field stable integer number of lines at its start that are drawn and no longer change, because a text only grows
---@field marks tark.ChatMark[]
---@field folds boolean can it be opened and closed?
---@field row boolean there is no blank line between two pieces with `row`
---@field cursor? tark.TextCursor
---@field length? integer bytes of the text that are drawn
---@field count? integer number of its lines, once it is drawn

---@class tark.ChatMark
---@field row integer of the piece, from 0
---@field group string
---@field stop? integer byte column of its end; nil: the whole line

local MOST_PROMPT_LINES = 20
local PLAN_SIGNS = { completed = 'x' }
local STOP_TEXTS = {
  cancelled = 'cancelled',
  max_tokens = 'the answer was cut at its maximum length',
  max_turn_requests = 'stopped at the limit of requests',
  budget = 'stopped at the limit of cost',
  refusal = 'the model refused',
}

---@param turn tark.Turn
---@return string[] lines
---@return tark.ChatMark[] marks
local function ending_lines(turn)
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
    local line = figures.join(
      stop ~= 'error' and stop ~= 'end_turn' and (STOP_TEXTS[stop] or stop) or nil,
      #(turn.edits or {}) > 0 and figures.counted(#turn.edits, 'file') .. ' changed' or nil,
      tokens > 0 and figures.short_number(tokens) .. ' tokens' or nil,
      (usage.costUsd or 0) > 0 and figures.money(usage.costUsd) or nil
    )
    if line ~= '' then
      add(line, 'TarkUsage')
    end
    if turn.undone then
      add(
        turn.undone == 'all' and 'undone; :TarkRedo does it again' or 'undone in part; :TarkRedo does it again',
        'TarkUsage'
      )
    end
  end
  return lines, marks
end

---@class tark.TurnPieces collects the pieces of a turn
---@field turn tark.Turn
---@field opened fun(key: string): boolean
---@field before tark.Piece[] the drawn pieces; their texts are continued
---@field pieces tark.Piece[]
local Pieces = {}
Pieces.__index = Pieces

---@param kind string
---@param key string
---@param block? tark.Block
---@return tark.Piece
function Pieces:new(kind, key, block)
  local new = { kind = kind, key = self.turn.turnId .. '/' .. key, turn = self.turn, block = block }
  new.lines, new.marks, new.stable, new.folds, new.row = {}, {}, 0, false, false
  return new
end

---@return tark.Piece? drawn piece at the position of the next one
function Pieces:drawn_piece()
  return self.before[#self.pieces + 1]
end

---Puts a blank line before everything except consecutive pieces with `row`.
---@param new tark.Piece
function Pieces:add_piece(new)
  if #new.lines == 0 and new.stable == 0 then
    return
  end
  for index, line in ipairs(new.lines) do
    new.lines[index] = text.limit_nesting(line)
  end
  local last = self.pieces[#self.pieces]
  if new.stable > 0 then
    new.stable = new.stable + 1
  elseif not (last and last.row and new.row) then
    table.insert(new.lines, 1, '')
    for _, mark in ipairs(new.marks) do
      mark.row = mark.row + 1
    end
  end
  table.insert(self.pieces, new)
end

---@param key string
---@param prompt string
---@param block? tark.Block of a message to the running turn
function Pieces:add_prompt(key, prompt, block)
  local new = self:new('prompt', key, block)
  new.lines, new.marks = { '## You', '' }, { { row = 0, group = 'TarkYou' } }
  local lines = text.lines(prompt)
  new.folds = #lines > MOST_PROMPT_LINES
  blocks.add_some(new.lines, lines, (self.opened(new.key) or not new.folds) and math.huge or MOST_PROMPT_LINES, '')
  if #lines == 0 then
    new.lines[3] = ('(%s)'):format(self.turn.turnKind or 'no text')
  end
  self:add_piece(new)
end

---@param key string of the first block of the answer
function Pieces:add_heading(key)
  local new = self:new('answer', key .. '/answer')
  new.lines, new.marks = { '## Tark' }, { { row = 0, group = 'TarkTark' } }
  self:add_piece(new)
end

---Continues where the drawn text ends, because a long answer grows many times a second.
---@param key string
---@param block tark.Block
function Pieces:add_text(key, block)
  local new, old = self:new('text', key, block), self:drawn_piece()
  local cursor = old and old.block == block and old.length <= #block.text and old.cursor or text.start()
  new.stable, new.length = cursor.count, #block.text
  new.lines, new.cursor = text.advance(cursor, block.text)
  self:add_piece(new)
end

---@param key string
---@param block tark.Block
function Pieces:add_block(key, block)
  if block.kind == 'text' then
    return self:add_text(key, block)
  end
  local new = self:new(block.kind, key, block)
  if blocks.draw[block.kind] then
    blocks.draw[block.kind](new, block, self.opened(new.key))
  end
  self:add_piece(new)
end

---@param old tark.Piece that is drawn and has not changed
function Pieces:keep_piece(old)
  old.stable, old.marks = old.count, {}
  table.insert(self.pieces, old)
end

function Pieces:add_plan()
  local new = self:new('plan', 'plan')
  for index, entry in ipairs(self.turn.plan or {}) do
    new.lines[index] = ('- [%s] %s'):format(PLAN_SIGNS[entry.status] or ' ', text.one_line(entry.content))
    if entry.status == 'in_progress' then
      table.insert(new.marks, { row = index - 1, group = 'TarkToolRunning' })
    end
  end
  self:add_piece(new)
end

function Pieces:add_ending()
  local new = self:new('ending', 'ending')
  new.lines, new.marks = ending_lines(self.turn)
  self:add_piece(new)
end

---@param turn tark.Turn
---@param opened fun(key: string): boolean
---@param before? tark.Piece[] the drawn pieces
---@param changed? table<tark.Block, true> blocks that have changed since; nil: any block can have changed
---@return tark.Piece[]
function M.turn(turn, opened, before, changed)
  local drawn = setmetatable({ turn = turn, opened = opened, before = before or {}, pieces = {} }, Pieces)
  drawn:add_prompt('prompt', turn.prompt)
  local answered = false
  for index, block in ipairs(turn.blocks) do
    local key = block.toolCallId or tostring(index)
    if block.kind == 'prompt' then
      drawn:add_prompt(key, block.text, block)
      answered = false
    else
      if not answered then
        drawn:add_heading(key)
        answered = true
      end
      local old = drawn:drawn_piece()
      if old and old.block == block and changed and not changed[block] then
        drawn:keep_piece(old)
      else
        drawn:add_block(key, block)
      end
    end
  end
  drawn:add_plan()
  drawn:add_ending()
  return drawn.pieces
end

return M
