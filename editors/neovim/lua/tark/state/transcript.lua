---Reduces the updates of a session to a transcript: turns that consist of blocks. The rules are in docs/clients.md.
---Pure: no Neovim API. The same as tests/protocol/transcript.py, and transcript.ts and transcriptTurn.ts of VS Code.
local M = {}

---@class tark.Transcript
---@field sessionId string
---@field earlier boolean the session has messages before these
---@field turns tark.Turn[] in the order of their first update, without turns of which only hunks are known
---@field byId table<string, tark.Turn> including turns that are not listed
---@field complete? boolean it started here, or was loaded (this and the next two are set by state/updates.lua)
---@field last? integer number of messages that were loaded
---@field reloading? boolean an update is missing, and the session is being loaded again

---@class tark.Turn
---@field turnId string
---@field seq integer number of its last update
---@field gap boolean an update is missing: load the session again with tark.session.open
---@field listed boolean it is in the transcript's `turns`
---@field state 'sending'|'queued'|'running'|'ended' sending: the chat shows it, but the server has not accepted it
---@field began? integer time of its first update, of vim.uv.now() (state/updates.lua)
---@field prompt string
---@field turnKind? string
---@field model? string
---@field mode? string
---@field range? lsp.Range
---@field uri? string the document of the range
---@field blocks tark.Block[]
---@field calls table<string, tark.Block> blocks of kind toolCall by their ids
---@field plan? { content: string, status: string }[]
---@field usage? tark.Usage
---@field stopReason? string
---@field error? { code: string, message: string, hint: string }
---@field edits? { uri: string, state: string }[]
---@field changedByCommand? string[]
---@field undone? 'all'|'partly' how much of its changes is undone

---@class tark.Usage
---@field inputTokens? integer
---@field cachedTokens? integer
---@field outputTokens? integer
---@field reasoningTokens? integer
---@field costUsd? number nil: unknown
---@field contextUsed? integer
---@field contextWindow? integer

---@class tark.Block `kind` says which fields it has
---@field kind 'text'|'thinking'|'prompt'|'toolCall'|'notice' `prompt`: a message of the user to the running turn
---@field text? string of text, thinking, prompt
---@field level? string
---@field message? string
---@field toolCallId? string
---@field name? string
---@field title? string
---@field toolKind? string
---@field status? 'pending'|'in_progress'|'waiting'|'completed'|'failed'|'rejected'|'cancelled'
---@field arguments? string
---@field locations? table[]
---@field content? table[]
---@field outcome? tark.Outcome

---@class tark.Outcome figures of a call that has run
---@field exitCode? integer negative: the signal that ended the command
---@field seconds? number
---@field matches? integer
---@field files? integer
---@field more? boolean there is more than was counted
---@field counts? string of a test run or a check: `2 failed, 1 passed`

---@class tark.Change what an update changed, so that a view can draw it again
---@field turn tark.Turn
---@field block? tark.Block the block that is new, has grown or changed
---@field kind tark.ChangeKind

---@alias tark.ChangeKind
---| 'turn'     # it is new, has started, ended, or was undone or redone: its first and last lines, and cancelled calls
---| 'block'    # a new block at the end
---| 'text'     # the last block has more text at its end
---| 'toolCall' # fields of a call have changed
---| 'plan'
---| 'usage'

local START_FIELDS = { 'prompt', 'turnKind', 'model', 'mode', 'range', 'uri' }
local CALL_FIELDS = { 'name', 'title', 'toolKind', 'status', 'arguments', 'locations', 'content', 'outcome' }
local TOKEN_FIELDS = { 'inputTokens', 'cachedTokens', 'outputTokens', 'reasoningTokens' }
local USAGE_FIELDS = { 'costUsd', 'contextUsed', 'contextWindow', unpack(TOKEN_FIELDS) }
local END_FIELDS = { 'stopReason', 'error', 'edits', 'changedByCommand' }
local FINAL = { completed = true, failed = true, rejected = true, cancelled = true }

---Is the value null, an empty text or an empty list? Such values change nothing.
local function is_empty(value)
  return value == nil or value == '' or (type(value) == 'table' and next(value) == nil)
end

---@generic T: table
---@param target T
---@return T target with these fields of `source`
local function copy_fields(target, source, fields)
  for _, field in ipairs(fields) do
    if not is_empty(source[field]) then
      target[field] = source[field]
    end
  end
  return target
end

---@return string kind of the change (tark.Change)
---@return tark.Block block
local function add_block(turn, block)
  table.insert(turn.blocks, block)
  return 'block', block
end

---Appending copies the text, which can grow to a megabyte. At 33 updates a second, the cost is negligible.
local function append_text(kind)
  return function(turn, update)
    local last = turn.blocks[#turn.blocks]
    if is_empty(update.delta) then
      return nil
    elseif last and last.kind == kind then
      last.text = last.text .. update.delta
      return 'text', last
    end
    return add_block(turn, { kind = kind, text = update.delta })
  end
end

---Marks calls that have not finished as cancelled, because they never will finish. Their content stays.
local function finish_turn(turn)
  turn.state = 'ended'
  for _, block in pairs(turn.calls) do
    if not FINAL[block.status] then
      block.status = 'cancelled'
    end
  end
end

---The function that applies each kind of update. Other kinds are ignored.
local APPLY = {
  start = function(turn, update)
    copy_fields(turn, update, START_FIELDS)
    return 'turn'
  end,
  text = append_text('text'),
  thinking = append_text('thinking'),
  toolCall = function(turn, update)
    local call = turn.calls[update.toolCallId]
    if call then
      return 'toolCall', copy_fields(call, update, CALL_FIELDS)
    end
    local block = { kind = 'toolCall', toolCallId = update.toolCallId, status = 'pending' }
    turn.calls[update.toolCallId] = block
    return add_block(turn, copy_fields(block, update, CALL_FIELDS))
  end,
  notice = function(turn, update)
    return add_block(turn, { kind = 'notice', level = update.level, message = update.message })
  end,
  plan = function(turn, update)
    turn.plan = not is_empty(update.entries) and update.entries or nil
    return 'plan'
  end,
  usage = function(turn, update)
    turn.usage = copy_fields({}, update, USAGE_FIELDS)
    return 'usage'
  end,
  undone = function(turn, update)
    turn.undone = not is_empty(update.undone) and update.undone or nil
    return 'turn'
  end,
  ['end'] = function(turn, update)
    copy_fields(turn, update, END_FIELDS)
    turn.usage = update.usage and copy_fields({}, update.usage, USAGE_FIELDS) or turn.usage
    finish_turn(turn)
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

---@return tark.Turn turn; it is now in the transcript's list
local function listed_turn(transcript, turn_id)
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

---Applies a `tark/update`. Updates of other sessions and updates that were already applied change nothing.
---@param transcript tark.Transcript is changed in place
---@param params tark.UpdateParams
---@return tark.Change? change nil: nothing has changed
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
  return M.apply_update(transcript, params.turnId, params.update)
end

---Applies an update regardless of its number.
---@param transcript tark.Transcript
---@param turn_id string
---@param update tark.Update
---@return tark.Change?
function M.apply_update(transcript, turn_id, update)
  local apply = APPLY[update.kind]
  if not apply or (update.kind == 'undone' and not turn_of(transcript, turn_id).listed) then
    return nil
  end
  local turn = listed_turn(transcript, turn_id)
  turn.state = turn.state == 'queued' and 'running' or turn.state
  local kind, block = apply(turn, update)
  return kind and { turn = turn, block = block, kind = kind }
end

---Adds a turn that the server accepted, before its first update, because the turn can wait for others.
---@param transcript tark.Transcript
---@param turn_id string
---@param prompt string
---@return tark.Change? change nil: it has started already
function M.add_queued_turn(transcript, turn_id, prompt)
  if turn_of(transcript, turn_id).listed then
    return nil
  end
  local turn = listed_turn(transcript, turn_id)
  turn.prompt = prompt
  return { turn = turn, kind = 'turn' }
end

---Adds a message of the user to a running turn, after `tark.turn.steer` accepted it.
---@param transcript tark.Transcript
---@param turn_id string
---@param prompt string
---@return tark.Change
function M.add_steer(transcript, turn_id, prompt)
  local turn = listed_turn(transcript, turn_id)
  local kind, block = add_block(turn, { kind = 'prompt', text = prompt })
  return { turn = turn, block = block, kind = kind }
end

---Called when the server has ended: turns that ran or waited are over.
---@param transcript tark.Transcript
---@return tark.Turn[] turns that ended
function M.interrupt(transcript)
  local ended = {}
  for _, turn in ipairs(transcript.turns) do
    if turn.state ~= 'ended' then
      finish_turn(turn)
      turn.stopReason = 'error'
      turn.error = {
        code = 'interrupted',
        message = 'the server ended while this turn ran',
        hint = 'what was done until then is kept: send a prompt to continue',
      }
      table.insert(ended, turn)
    end
  end
  return ended
end

return M
