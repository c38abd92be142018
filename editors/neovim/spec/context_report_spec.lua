local report = require('tark.commands.context_report').report

describe('the report of the context', function()
  it('has a row for each part, with the reason for code that was added', function()
    local parts = {
      { name = 'system prompt', kind = 'system', tokens = 1200 },
      { name = 'src/a.lua:1-9', kind = 'automatic', tokens = 80, reason = 'named in your prompt' },
      { name = 'messages', kind = 'history', tokens = 720, messages = 3, reason = vim.NIL },
    }
    assert.same({
      '2k of 200k (1 %) tokens in the next prompt',
      '   1.2k  system prompt',
      '     80  src/a.lua:1-9 · named in your prompt',
      '    720  3 messages',
    }, report({ parts = parts, tokens = 2000, contextWindow = 200000 }))
  end)

  it('shows no share of an unknown window, and nothing that could deceive', function()
    local lines = report({
      parts = { { name = 'a\n\27[31m', kind = 'automatic', tokens = 1 } },
      tokens = 1,
      contextWindow = vim.NIL,
    })
    assert.same('1 tokens in the next prompt', lines[1])
    assert.is_nil(lines[2]:find('[\n\27]'))
  end)
end)
