---What `tark.session.open` answers, told as the updates that would have made it. Pure, as transcript.lua is.
local transcripts = require('tark.transcript')

local M = {}

---@return tark.Update
local function as(kind, told)
  local update = {}
  for name, value in pairs(told) do
    update[name] = value
  end
  update.kind = kind
  return update
end

local function tell_notices(transcript, told)
  for _, notice in ipairs(told.notices or {}) do
    transcripts.tell(transcript, told.turnId, as('notice', notice))
  end
end

---Where in the turn its notices came is not kept: so before what is being said, which goes on at the end.
---@return tark.Turn
local function begin(transcript, told)
  local start = as('start', told)
  start.turnKind = told.kind
  local turn = transcripts.tell(transcript, told.turnId, start).turn
  turn.seq = told.seq or 0
  if told.state ~= 'ended' then
    tell_notices(transcript, told)
  end
  return turn
end

local function tell_answer(transcript, turn_id, message)
  transcripts.tell(transcript, turn_id, { kind = 'thinking', delta = message.thinking })
  transcripts.tell(transcript, turn_id, { kind = 'text', delta = message.text })
  for _, call in ipairs(message.toolCalls or {}) do
    transcripts.tell(transcript, turn_id, as('toolCall', call))
  end
end

---The words of an answer that was cut bear the server's mark in the history.
local function unmark(turn)
  local last = turn.blocks[#turn.blocks]
  if last and last.kind == 'text' and turn.stopReason ~= 'end_turn' then
    last.text = last.text:gsub('\n?\n?%[interrupted%]$', '')
    if last.text == '' then
      table.remove(turn.blocks)
    end
  end
end

---After its messages.
local function conclude(transcript, told)
  local turn = transcript.byId[told.turnId]
  if told.plan then
    transcripts.tell(transcript, told.turnId, { kind = 'plan', entries = told.plan })
  end
  if told.usage then
    transcripts.tell(transcript, told.turnId, as('usage', told.usage))
  end
  if told.state == 'ended' then
    transcripts.tell(transcript, told.turnId, as('end', told))
    unmark(turn)
    tell_notices(transcript, told)
  end
  turn.state = told.state
  for _, words in ipairs(told.steers or {}) do
    transcripts.steered(transcript, told.turnId, words)
  end
end

---@param opened table the answer of `tark.session.open`; updates that come after it go on from here
---@return tark.Transcript
function M.transcript(opened)
  local transcript = transcripts.new(opened.sessionId)
  transcript.earlier = opened.earlier == true
  local told, begun = {}, {}
  for _, each in ipairs(opened.turns) do
    told[each.turnId] = each
  end
  local function seen(turn_id)
    return transcript.byId[turn_id] or (told[turn_id] and begin(transcript, told[turn_id]))
  end
  local loose ---@type tark.Turn? of messages that are of no turn: what the session was begun with
  for _, message in ipairs(opened.messages) do
    local is_user, turn = message.role == 'user', seen(message.turnId)
    if not turn then
      if is_user or not loose then
        loose = transcripts.tell(transcript, message.messageId, { kind = 'end' }).turn
      end
      turn = loose ---@cast turn tark.Turn
    end
    if not is_user then
      tell_answer(transcript, turn.turnId, message)
    elseif begun[turn] then
      transcripts.steered(transcript, turn.turnId, message.text)
    else -- all of it: that of the turn is cut
      turn.prompt = message.text
    end
    begun[turn] = true
  end
  for _, each in ipairs(opened.turns) do
    seen(each.turnId)
    conclude(transcript, each)
  end
  return transcript
end

return M
