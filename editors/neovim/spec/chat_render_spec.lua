local render = require('tark.chat.render')

local function turn(fields)
  return vim.tbl_extend('force', {
    turnId = 'turn-1',
    state = 'ended',
    stopReason = 'end_turn',
    prompt = 'why?',
    blocks = {},
  }, fields)
end

---@param opened? table<string, boolean>
local function lines(fields, opened)
  local shown = {}
  local pieces = render.turn(turn(fields), function(key)
    return (opened or {})[key] or false
  end)
  for _, piece in ipairs(pieces) do
    vim.list_extend(shown, piece.lines)
  end
  return shown
end

---Without the prompt and the heading above the answer.
local function answer(fields, opened)
  return vim.list_slice(lines(fields, opened), 7)
end

local function call(fields)
  return vim.tbl_extend('force', { kind = 'toolCall', toolCallId = 'call-1', title = 'edit_file a.py' }, fields)
end

describe('a turn in the chat', function()
  it('consists of the prompt, the answer, and its usage', function()
    local usage = { inputTokens = 8000, outputTokens = 100, costUsd = 0.012 }
    local blocks = { { kind = 'thinking', text = 'Hm.\nSo.\n' }, { kind = 'text', text = 'Because.' } }
    local edits = { { uri = 'file:///a.py', state = 'applied' } }
    assert.same({
      '',
      '## You',
      '',
      'why?',
      '',
      '## Tark',
      '',
      '… thinking (2 lines)',
      '',
      'Because.',
      '',
      '1 file changed · 8.1k tokens · $0.0120',
    }, lines({ blocks = blocks, usage = usage, edits = edits }))
  end)

  it('says its state before there is an answer', function()
    assert.same({ '', 'waits for the turn before it' }, vim.list_slice(lines({ state = 'queued' }), 5))
    assert.same({ '', 'sending…' }, vim.list_slice(lines({ state = 'sending' }), 5))
    assert.same({}, vim.list_slice(lines({ state = 'running' }), 5))
    assert.same({ '', '## You', '', '(explain)' }, lines({ prompt = '', turnKind = 'explain' }))
  end)

  it('says why it has ended', function()
    local problem = { code = 'no_key', message = 'there is no key', hint = 'set one' }
    assert.same(
      { '', '✗ there is no key', 'set one' },
      vim.list_slice(lines({ stopReason = 'error', error = problem }), 5)
    )
    assert.same({ '', 'cancelled' }, vim.list_slice(lines({ stopReason = 'cancelled' }), 5))
  end)

  it('shows a long prompt up to a fold', function()
    local prompt = ('line\n'):rep(25)
    assert.same('… 5 lines more', lines({ prompt = prompt })[24])
    assert.same(28, #lines({ prompt = prompt }, { ['turn-1/prompt'] = true }))
  end)

  it('shows a call in one line, with its status', function()
    local signs = { pending = '·', in_progress = '●', completed = '✓', cancelled = '-' }
    for status, sign in pairs(signs) do
      assert.same({ '', sign .. ' edit_file a.py' }, answer({ blocks = { call({ status = status }) } }))
    end
    local why = { { type = 'text', text = '\nIt is\tnot there.\nMore of it.' } }
    assert.same(
      { '', '✗ edit_file a.py: It is⇥not there.' },
      answer({ blocks = { call({ status = 'failed', content = why }) } })
    )
    assert.same({ '', '? edit_file a.py  <CR> answers' }, answer({ blocks = { call({ status = 'waiting' }) } }))
  end)

  it('puts calls below each other, and blank lines around text', function()
    local done = call({ status = 'completed' })
    local other = call({ status = 'completed', toolCallId = 'call-2', title = 'read_file b.py' })
    local words = { kind = 'text', text = 'So.' }
    assert.same(
      { '', '✓ edit_file a.py', '✓ read_file b.py', '', 'So.', '', '✓ edit_file a.py' },
      answer({ blocks = { done, other, words, call({ status = 'completed', toolCallId = 'call-3' }) } })
    )
  end)

  it('shows what a call found and changed when it is opened', function()
    local range = { start = { line = 4, character = 0 }, ['end'] = { line = 5, character = 0 } }
    local diff =
      { type = 'diff', uri = 'file:///w/a.py', hunks = { { range = range, oldText = 'a\n```\n', newText = 'b\n' } } }
    local block = call({ status = 'completed', content = { diff, { type = 'text', text = 'Applied.\n```\nx' } } })
    assert.same({
      '',
      '✓ edit_file a.py',
      '',
      '```diff',
      '@@ /w/a.py:5 @@',
      '-a',
      '-```',
      '+b',
      '```',
      '',
      '> Applied.',
      '> ```',
      '> x',
      '> ```',
    }, answer({ blocks = { block } }, { ['turn-1/call-1'] = true }))
    local long = call({ status = 'completed', content = { { type = 'text', text = ('x\n'):rep(1000) } } })
    assert.same('> … 800 lines more', answer({ blocks = { long } }, { ['turn-1/call-1'] = true })[204])
  end)

  it('shows a diff even if parts of it are missing', function()
    local odd = { type = 'diff', uri = 'not a uri', hunks = { { oldText = '', newText = 'b' } } }
    local shown = answer({ blocks = { call({ content = { odd, { type = 'other' } } }) } }, { ['turn-1/call-1'] = true })
    assert.same('+b', shown[6])
  end)

  it('has a second heading after a message to the running turn', function()
    local blocks =
      { { kind = 'text', text = 'One.' }, { kind = 'prompt', text = 'no: two' }, { kind = 'text', text = 'Two.' } }
    assert.same({ '', 'One.', '', '## You', '', 'no: two', '', '## Tark', '', 'Two.' }, answer({ blocks = blocks }))
  end)

  it('shows the plan as a list', function()
    local plan = { { content = 'look', status = 'completed' }, { content = 'do\nit', status = 'in_progress' } }
    assert.same({ '', '- [x] look', '- [ ] do it' }, vim.list_slice(lines({ plan = plan }), 5))
  end)

  it('continues where a text ended', function()
    local block = { kind = 'text', text = 'One.\nTwo.\nThr' }
    local running = turn({ state = 'running', blocks = { block } })
    local function closed()
      return false
    end
    local before = render.turn(running, closed)
    block.text = 'One.\nTwo.\nThree.'
    local piece = render.turn(running, closed, before)[3]
    assert.same({ 3, { 'Three.' } }, { piece.stable, piece.lines })
    running.blocks[1] = { kind = 'text', text = 'Other.' }
    piece = render.turn(running, closed, before)[3]
    assert.same({ 0, { '', 'Other.' } }, { piece.stable, piece.lines })
  end)
end)
