---What tests/protocol cannot see of the reducer: what a view may hold on to.
local transcripts = require('tark.transcript')

describe('a transcript', function()
  local transcript, seq

  local function tell(update)
    seq = seq + 1
    return transcripts.reduce(transcript, { sessionId = 's', turnId = 't', seq = seq, update = update })
  end

  before_each(function()
    transcript, seq = transcripts.new('s'), 0
    tell({ kind = 'start', prompt = 'hello' })
  end)

  it('keeps a block the same table while it changes, so that it can be a key', function()
    local text = tell({ kind = 'text', delta = 'a' }).block
    local call = tell({ kind = 'toolCall', toolCallId = 'c', status = 'pending' }).block
    assert.equal(call, tell({ kind = 'toolCall', toolCallId = 'c', status = 'completed' }).block)
    assert.equal(text, transcript.turns[1].blocks[1])
    assert.equal(call, transcript.turns[1].blocks[2])
    assert.equal('completed', call.status)
  end)

  it('finds turns and calls by their ids', function()
    local call = tell({ kind = 'toolCall', toolCallId = 'c', status = 'pending' }).block
    assert.equal(transcript.turns[1], transcript.byId.t)
    assert.equal(call, transcript.byId.t.calls.c)
  end)

  it('says which turns the death of the server ended', function()
    transcripts.asked(transcript, 'queued', 'and then?')
    local ended = transcripts.interrupted(transcript)
    assert.same({ 't', 'queued' }, { ended[1].turnId, ended[2].turnId })
    assert.same({}, transcripts.interrupted(transcript))
  end)

  it('gives each turn that died an error of its own', function()
    transcripts.asked(transcript, 'queued', 'and then?')
    transcripts.interrupted(transcript)
    assert.not_equal(transcript.turns[1].error, transcript.turns[2].error)
  end)
end)
