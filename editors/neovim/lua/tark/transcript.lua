---What the updates of a session make: a transcript, which is turns of blocks. The rules are in docs/clients.md.
---Pure: no Neovim API. The same in tests/protocol/transcript.py and editors/vscode/src/model/transcript.ts.
local M = {}

local OF_START = { 'prompt', 'turnKind', 'model', 'mode', 'range' }
local OF_CALL = { 'name', 'title', 'toolKind', 'status', 'arguments', 'locations', 'content' }
local OF_TOKENS = { 'inputTokens', 'cachedTokens', 'outputTokens', 'reasoningTokens' }
local OF_USAGE = { 'costUsd', 'contextUsed', 'contextWindow', unpack(OF_TOKENS) }
local OF_END = { 'stopReason', 'error', 'edits', 'changedByCommand' }
local OVER = { completed = true, failed = true, rejected = true, cancelled = true }

---Null, an empty text and an empty list say nothing.
local function says_nothing(value)
  return value == nil or value == '' or (type(value) == 'table' and next(value) == nil)
end

---@generic T: table
---@param target T
---@return T target with what `source` says of these fields
local function take(target, source, fields)
  for _, field in ipairs(fields) do
    if not says_nothing(source[field]) then
      target[field] = source[field]
    end
  end
  return target
end

---@return string kind what is to be drawn anew (tark.Change)
---@return tark.Block block
local function add(turn, block)
  table.insert(turn.blocks, block)
  return 'block', block
end

---A text may grow to a megabyte, and appending copies it: at 33 updates a second that is nothing.
local function say(kind)
  return function(turn, update)
    local last = turn.blocks[#turn.blocks]
    if says_nothing(update.delta) then
      return nil
    elseif last and last.kind == kind then
      last.text = last.text .. update.delta
      return 'text', last
    end
    return add(turn, { kind = kind, text = update.delta })
  end
end

---Calls that were not over never will be; what they had to show stays.
local function finish(turn)
  turn.state = 'ended'
  for _, block in pairs(turn.calls) do
    if not OVER[block.status] then
      block.status = 'cancelled'
    end
  end
end

---What each kind of update changes. All others are left to clients that know them.
local APPLY = {
  start = function(turn, update)
    take(turn, update, OF_START)
    return 'turn'
  end,
  text = say('text'),
  thinking = say('thinking'),
  toolCall = function(turn, update)
    local known = turn.calls[update.toolCallId]
    if known then
      return 'toolCall', take(known, update, OF_CALL)
    end
    local block = { kind = 'toolCall', toolCallId = update.toolCallId, status = 'pending' }
    turn.calls[update.toolCallId] = block
    return add(turn, take(block, update, OF_CALL))
  end,
  notice = function(turn, update)
    return add(turn, { kind = 'notice', level = update.level, message = update.message })
  end,
  plan = function(turn, update)
    turn.plan = not says_nothing(update.entries) and update.entries or nil
    return 'plan'
  end,
  usage = function(turn, update)
    turn.usage = take({}, update, OF_USAGE)
    return 'usage'
  end,
  ['end'] = function(turn, update)
    take(turn, update, OF_END)
    turn.usage = update.usage and take({}, update.usage, OF_USAGE) or turn.usage
    finish(turn)
    return 'turn'
  end,
}

---@return tark.Turn
local function turn_of(transcript, turn_id)
  local turn = transcript.byId[turn_id]
  if not turn then
    turn = { turnId = turn_id, seq = 0, gap = false, listed = false, state = 'queued', prompt = '', blocks = {} }
    turn.calls = {}
    transcript.byId[turn_id] = turn
  end
  return turn
end

---@return tark.Turn turn it is in the transcript's list now
local function listed(transcript, turn_id)
  local turn = turn_of(transcript, turn_id)
  if not turn.listed then
    turn.listed = true
    table.insert(transcript.turns, turn)
  end
  return turn
end

---@param session_id string
---@return tark.Transcript
function M.new(session_id)
  return { sessionId = session_id, earlier = false, turns = {}, byId = {} }
end

---The next `tark/update`. Those of other sessions, and those that were here already, change nothing.
---@param transcript tark.Transcript is changed in place
---@param params tark.UpdateParams
---@return tark.Change? change nil: nothing to be drawn anew
function M.reduce(transcript, params)
  if params.sessionId ~= transcript.sessionId then
    return nil
  end
  local turn = turn_of(transcript, params.turnId)
  if params.seq <= turn.seq then
    return nil
  end
  turn.gap = turn.gap or params.seq > turn.seq + 1
  turn.seq = params.seq
  return M.tell(transcript, params.turnId, params.update)
end

---What was told of a turn, whatever its number.
---@param transcript tark.Transcript
---@param turn_id string
---@param update tark.Update
---@return tark.Change?
function M.tell(transcript, turn_id, update)
  local apply = APPLY[update.kind]
  if not apply then
    return nil
  end
  local turn = listed(transcript, turn_id)
  turn.state = turn.state == 'queued' and 'running' or turn.state
  local kind, block = apply(turn, update)
  return kind and { turn = turn, block = block, kind = kind }
end

---A turn that was started, before anything is told of it: it may have to wait.
---@param transcript tark.Transcript
---@param turn_id string
---@param prompt string
---@return tark.Change? change nil: it began already
function M.asked(transcript, turn_id, prompt)
  if turn_of(transcript, turn_id).listed then
    return nil
  end
  local turn = listed(transcript, turn_id)
  turn.prompt = prompt
  return { turn = turn, kind = 'turn' }
end

---What the person said to a running turn, once `tark.turn.steer` accepted it.
---@param transcript tark.Transcript
---@param turn_id string
---@param prompt string
---@return tark.Change
function M.steered(transcript, turn_id, prompt)
  local turn = listed(transcript, turn_id)
  local kind, block = add(turn, { kind = 'prompt', text = prompt })
  return { turn = turn, block = block, kind = kind }
end

---The server died: what ran or waited is over.
---@param transcript tark.Transcript
---@return tark.Turn[] turns that ended by it
function M.interrupted(transcript)
  local ended = {}
  for _, turn in ipairs(transcript.turns) do
    if turn.state ~= 'ended' then
      finish(turn)
      turn.stopReason = 'error'
      turn.error = {
        code = 'interrupted',
        message = 'the server ended while this turn ran',
        hint = 'what was done until then is kept: say how to go on',
      }
      table.insert(ended, turn)
    end
  end
  return ended
end

return M
