---Foreign text is cut between characters, and its invisible characters are shown.
local visible = require('tark.visible')

describe('text that is cut', function()
  it('consists of whole characters, and says if anything is missing', function()
    assert.same({ 'abc', false }, { visible.cut('abc', 3) })
    assert.same({ 'ab', true }, { visible.cut('abc', 2) })
    for longest = 1, 12 do
      local piece, is_cut = visible.cut('xé語🥧y', longest)
      assert.same({ piece, is_cut }, { vim.fn.iconv(piece, 'utf-8', 'utf-8'), longest < 11 })
      assert.is_true(#piece <= longest)
    end
  end)

  it('has its start and its end', function()
    local short = visible.short(('é'):rep(50) .. ' the end', 40)
    assert.truthy(short:find('^é.* … .*the end$'))
    assert.same(short, vim.fn.iconv(short, 'utf-8', 'utf-8'))
  end)
end)

describe('invisible characters', function()
  it('are shown, except those that prose needs', function()
    local written = 'a\u{a0}b \u{26a0}\u{fe0f} \u{200d}'
    assert.same('a\\u{a0}b \u{26a0}\\u{fe0f} \\u{200d}', visible.code(written))
    assert.same(written, visible.prose(written))
    assert.same('\\u{202e}\\u{200b}\\u{e0041}\\u{1b}', visible.prose('\u{202e}\u{200b}\u{e0041}\27'))
  end)
end)
