---A turn -> pieces of lines with marks: what the chat shows of it. Pure: windows and buffers are view.lua's.
local blocks = require('tark.chat.blocks')
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
---@field marks tark.ChatMark[]
---@field folds boolean can it be opened and closed?
---@field row boolean one of several that stand together without blank lines
---@field cursor? tark.TextCursor
---@field length? integer bytes of the text that is drawn
---@field count? integer all of its lines, once it is drawn

---@class tark.ChatMark
---@field row integer of the piece, from 0
---@field group string
---@field stop? integer byte column where it ends; nil: the whole line

local MOST_PROMPT_LINES = 20
local PLAN_SIGNS = { completed = 'x' }
local STOPS = {
  cancelled = 'cancelled',
  max_tokens = 'the answer was cut: it reached its longest',
  max_turn_requests = 'stopped at the limit of requests',
  budget = 'stopped at the limit of cost',
  refusal = 'the model refused',
}

---@param turn tark.Turn
---@return string[] lines
---@return tark.ChatMark[] marks
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
      #(turn.edits or {}) > 0 and figures.counted(#turn.edits, 'file') .. ' changed' or nil,
      tokens > 0 and figures.short(tokens) .. ' tokens' or nil,
      (usage.costUsd or 0) > 0 and figures.money(usage.costUsd) or nil
    )
    if line ~= '' then
      add(line, 'TarkUsage')
    end
  end
  return lines, marks
end

---@class tark.TurnPieces the pieces of a turn, as they come
---@field turn tark.Turn
---@field opened fun(key: string): boolean
---@field before tark.Piece[] those of the last time, whose texts are gone on with
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

---@return tark.Piece? that stood where the next one comes
function Pieces:old()
  return self.before[#self.pieces + 1]
end

---Blank lines stand around everything but rows of calls.
---@param new tark.Piece
function Pieces:add(new)
  if #new.lines == 0 and new.stable == 0 then
    return
  end
  for index, line in ipairs(new.lines) do
    new.lines[index] = text.shallow(line)
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
---@param words string
---@param block? tark.Block of what was said while the turn ran
function Pieces:prompt(key, words, block)
  local new = self:new('prompt', key, block)
  new.lines, new.marks = { '## You', '' }, { { row = 0, group = 'TarkYou' } }
  local lines = text.lines(words)
  new.folds = #lines > MOST_PROMPT_LINES
  blocks.add_some(new.lines, lines, (self.opened(new.key) or not new.folds) and math.huge or MOST_PROMPT_LINES, '')
  if #lines == 0 then
    new.lines[3] = ('(%s)'):format(self.turn.turnKind or 'no words')
  end
  self:add(new)
end

---@param key string of what is answered first
function Pieces:heading(key)
  local new = self:new('answer', key .. '/answer')
  new.lines, new.marks = { '## Tark' }, { { row = 0, group = 'TarkTark' } }
  self:add(new)
end

---Gone on with where it stood: a long answer grows many times a second.
---@param key string
---@param block tark.Block
function Pieces:say(key, block)
  local new, old = self:new('text', key, block), self:old()
  local cursor = old and old.block == block and old.length <= #block.text and old.cursor or text.start()
  new.stable, new.length = cursor.count, #block.text
  new.lines, new.cursor = text.advance(cursor, block.text)
  self:add(new)
end

---@param key string
---@param block tark.Block
function Pieces:block(key, block)
  if block.kind == 'text' then
    return self:say(key, block)
  end
  local new = self:new(block.kind, key, block)
  if blocks.draw[block.kind] then
    blocks.draw[block.kind](new, block, self.opened(new.key))
  end
  self:add(new)
end

---@param old tark.Piece as it was drawn
function Pieces:keep(old)
  old.stable, old.marks = old.count, {}
  table.insert(self.pieces, old)
end

function Pieces:plan()
  local new = self:new('plan', 'plan')
  for index, entry in ipairs(self.turn.plan or {}) do
    new.lines[index] = ('- [%s] %s'):format(PLAN_SIGNS[entry.status] or ' ', text.one_line(entry.content))
    if entry.status == 'in_progress' then
      table.insert(new.marks, { row = index - 1, group = 'TarkToolRunning' })
    end
  end
  self:add(new)
end

function Pieces:ending()
  local new = self:new('ending', 'ending')
  new.lines, new.marks = ending(self.turn)
  self:add(new)
end

---@param turn tark.Turn
---@param opened fun(key: string): boolean
---@param before? tark.Piece[] those of the last time
---@param changed? table<tark.Block, true> blocks that are others than `before`; nil: any may be
---@return tark.Piece[]
function M.turn(turn, opened, before, changed)
  local drawn = setmetatable({ turn = turn, opened = opened, before = before or {}, pieces = {} }, Pieces)
  drawn:prompt('prompt', turn.prompt)
  local answered = false
  for index, block in ipairs(turn.blocks) do
    local key = block.toolCallId or tostring(index)
    if block.kind == 'prompt' then
      drawn:prompt(key, block.text, block)
      answered = false
    else
      if not answered then
        drawn:heading(key)
        answered = true
      end
      local old = drawn:old()
      if old and old.block == block and changed and not changed[block] then
        drawn:keep(old)
      else
        drawn:block(key, block)
      end
    end
  end
  drawn:plan()
  drawn:ending()
  return drawn.pieces
end

return M
