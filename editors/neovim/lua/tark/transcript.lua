---What the updates of a session make: turns of blocks. Pure: no Neovim API, so that plain LuaJIT can run it.
---The same rules in Python (tests/protocol/transcript.py) and TypeScript (editors/vscode/src/transcript.ts).
local M = {}

---@class tark.Change what an update changed: the turn, and the block if only one
---@field turn tark.Turn
---@field block? tark.Block

---@return tark.Transcript
function M.new()
  return { turns = {} }
end

---@param transcript tark.Transcript is changed in place
---@param params tark.UpdateParams
---@return tark.Change? change nil: nothing to be drawn anew
function M.reduce(transcript, params)
  local turn
  for _, each in ipairs(transcript.turns) do
    if each.turnId == params.turnId then
      turn = each
    end
  end
  if not turn then
    turn = { turnId = params.turnId, seq = 0, gap = false, state = 'queued', prompt = '', blocks = {} }
    table.insert(transcript.turns, turn)
  end
  turn.seq = params.seq
  local update = params.update
  if update.kind == 'start' then
    turn.state, turn.prompt = 'running', update.prompt
  elseif update.kind == 'text' then
    table.insert(turn.blocks, { kind = 'text', text = update.delta })
  elseif update.kind == 'end' then
    turn.state, turn.stopReason = 'ended', update.stopReason
  end
  return { turn = turn }
end

return M
