---Makes a transcript of a stored session: converts the answer of `tark.session.open` to updates. Pure, as
---transcript.lua is.
local transcripts = require('tark.state.transcript')

local M = {}

---@return tark.Update
local function to_update(kind, fields)
  local update = {}
  for name, value in pairs(fields) do
    update[name] = value
  end
  update.kind = kind
  return update
end

local function add_notices(transcript, stored)
  for _, notice in ipairs(stored.notices or {}) do
    transcripts.apply_update(transcript, stored.turnId, to_update('notice', notice))
  end
end

---Starts a stored turn. The positions of notices in the turn are not stored. In a turn that has not ended they come
---first, because its text continues at the end.
---@return tark.Turn
local function start_turn(transcript, stored)
  local start = to_update('start', stored)
  start.turnKind = stored.kind
  local turn = transcripts.apply_update(transcript, stored.turnId, start).turn
  turn.seq = stored.seq or 0
  if stored.state ~= 'ended' then
    add_notices(transcript, stored)
  end
  return turn
end

local function add_answer(transcript, turn_id, message)
  transcripts.apply_update(transcript, turn_id, { kind = 'thinking', delta = message.thinking })
  transcripts.apply_update(transcript, turn_id, { kind = 'text', delta = message.text })
  for _, call in ipairs(message.toolCalls or {}) do
    transcripts.apply_update(transcript, turn_id, to_update('toolCall', call))
  end
end

---Removes the mark that the server appends to a truncated answer.
local function remove_mark(turn)
  local last = turn.blocks[#turn.blocks]
  if last and last.kind == 'text' and turn.stopReason ~= 'end_turn' then
    last.text = last.text:gsub('\n?\n?%[interrupted%]$', '')
    if last.text == '' then
      table.remove(turn.blocks)
    end
  end
end

---Adds what comes after the messages of a turn.
local function finish_turn(transcript, stored)
  local turn = transcript.byId[stored.turnId]
  if stored.plan then
    transcripts.apply_update(transcript, stored.turnId, { kind = 'plan', entries = stored.plan })
  end
  if stored.usage then
    transcripts.apply_update(transcript, stored.turnId, to_update('usage', stored.usage))
  end
  if stored.state == 'ended' then
    transcripts.apply_update(transcript, stored.turnId, to_update('end', stored))
    transcripts.apply_update(transcript, stored.turnId, { kind = 'undone', undone = stored.undone })
    remove_mark(turn)
    add_notices(transcript, stored)
  end
  turn.state = stored.state
  for _, prompt in ipairs(stored.steers or {}) do
    transcripts.add_steer(transcript, stored.turnId, prompt)
  end
end

---Puts the messages into their turns.
---@param find_turn fun(turn_id?: string): tark.Turn?
local function add_messages(transcript, messages, find_turn)
  local has_messages = {} ---@type table<tark.Turn, true>
  local turnless ---@type tark.Turn? of messages without a turn: with these the session started
  for _, message in ipairs(messages) do
    local is_user, turn = message.role == 'user', find_turn(message.turnId)
    if not turn then
      if is_user or not turnless then
        turnless = transcripts.apply_update(transcript, message.messageId, { kind = 'end' }).turn
      end
      turn = turnless ---@cast turn tark.Turn
    end
    if not is_user then
      add_answer(transcript, turn.turnId, message)
    elseif has_messages[turn] then
      transcripts.add_steer(transcript, turn.turnId, message.text)
    else -- the message has the whole prompt; the turn has a shortened one
      turn.prompt = message.text
    end
    has_messages[turn] = true
  end
end

---@param opened table the answer of `tark.session.open`; later updates continue from it
---@return tark.Transcript
function M.transcript(opened)
  local transcript = transcripts.new(opened.sessionId)
  transcript.earlier = opened.earlier == true
  local stored_turns = {}
  for _, stored in ipairs(opened.turns) do
    stored_turns[stored.turnId] = stored
  end
  local function find_turn(turn_id)
    local stored = stored_turns[turn_id]
    return transcript.byId[turn_id] or (stored and start_turn(transcript, stored))
  end
  add_messages(transcript, opened.messages, find_turn)
  for _, stored in ipairs(opened.turns) do
    find_turn(stored.turnId)
    finish_turn(transcript, stored)
  end
  return transcript
end

return M
