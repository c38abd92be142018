---Plays cases with the reducer of the Neovim plugin: a case as a line of JSON in, what it makes as a line out (players.py).
---  nvim --clean -l play.lua <folder of the plugin's Lua files>
package.path = arg[1] .. '/?.lua;' .. package.path
local transcripts = require('tark.state.transcript')

local function without_indexes(transcript)
  local told = vim.deepcopy({ sessionId = transcript.sessionId, earlier = transcript.earlier, turns = transcript.turns })
  for _, turn in ipairs(told.turns) do
    turn.calls, turn.listed = nil, nil
  end
  return told
end

local function words(change)
  if not change then
    return vim.NIL
  end
  for place, block in ipairs(change.turn.blocks) do
    if block == change.block then
      return ('%s %d'):format(change.kind, place - 1)
    end
  end
  return change.kind
end

local STEPS = {
  update = function(transcript, params)
    return transcript, words(transcripts.reduce(transcript, params))
  end,
  asked = function(transcript, started)
    return transcript, words(transcripts.add_queued_turn(transcript, started.turnId, started.prompt))
  end,
  steered = function(transcript, said)
    return transcript, words(transcripts.add_steer(transcript, said.turnId, said.prompt))
  end,
  interrupted = function(transcript)
    transcripts.interrupt(transcript)
    return transcript, vim.NIL
  end,
  opened = function(_, answer)
    return require('tark.state.stored_session').transcript(answer), vim.NIL
  end,
}

for line in io.stdin:lines() do
  local case = vim.json.decode(line, { luanil = { object = true } })
  local transcript, changes = transcripts.new(case.sessionId), {}
  for _, step in ipairs(case.steps) do
    local name = next(step)
    transcript, changes[#changes + 1] = STEPS[name](transcript, step[name])
  end
  io.stdout:write(vim.json.encode({ transcript = without_indexes(transcript), changes = changes }), '\n')
  io.stdout:flush()
end
