---Properties of the reducer that tests/protocol cannot check: which tables a view can keep.
local transcripts = require('tark.state.transcript')

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

  it('keeps the table of a block while it changes, so that it can be a key', function()
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

  it('reports which turns ended with the server', function()
    transcripts.add_queued_turn(transcript, 'queued', 'and then?')
    local ended = transcripts.interrupt(transcript)
    assert.same({ 't', 'queued' }, { ended[1].turnId, ended[2].turnId })
    assert.same({}, transcripts.interrupt(transcript))
  end)

  it('gives each of these turns its own error', function()
    transcripts.add_queued_turn(transcript, 'queued', 'and then?')
    transcripts.interrupt(transcript)
    assert.not_equal(transcript.turns[1].error, transcript.turns[2].error)
  end)
end)
