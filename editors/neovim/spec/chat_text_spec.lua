local text = require('tark.chat.text')

---The lines that a reader sees while the text streams, piece by piece.
local function streamed(source, piece)
  local lines, cursor = {}, text.start()
  for stop = piece, #source + piece - 1, piece do
    local fresh, next = text.advance(cursor, source:sub(1, stop))
    lines = vim.list_extend(vim.list_slice(lines, 1, cursor.count), fresh)
    cursor = next
  end
  return lines
end

local HOSTILE = [[


A paragraph.


## You
## Tark
You
---
<!-- swallowed
Look: <code="src/a b.py" #10:12>
def a():
    return "<\/code>"
````
</code> and <code="/w/b.lua" #3> then

~~~
```
~~~
```python
x = 1
]]

describe('a text in the chat', function()
  it('is not changed, except for the blank lines around it', function()
    assert.same({ 'one', '', '', 'two' }, text.lines('\n\none\n\n\ntwo\n\n'))
    assert.same({}, text.lines(' \n'))
  end)

  it('cannot swallow the text below it', function()
    assert.same({ '```python', 'x', '```' }, text.lines('```python\nx'))
    assert.same({ '~~~', '```', '~~~' }, text.lines('~~~\n```'))
    assert.same({ '`````', '````', '`````' }, text.lines('`````\n````'))
    for _, opening in ipairs({ '<!-- a', '<?php', '<![CDATA[', '<pre>', '<script>', '<style>', '<textarea>' }) do
      assert.same({ '\\' .. opening }, text.lines(opening))
    end
    assert.same({ 'a <b> and `<!--`' }, text.lines('a <b> and `<!--`'))
  end)

  it('cannot forge the heading of another speaker', function()
    assert.same({ '\\## You', '\\# Tark', '## Your choice' }, text.lines('## You\n # Tark \n## Your choice'))
    assert.same({ '```', '## You', '```' }, text.lines('```\n## You\n```'))
    for _, heading in ipairs({ '### You', '# You ##', '## **You**', '##\tyou', '## You\226\128\141' }) do
      assert.same({ '\\' .. heading }, text.lines(heading))
    end
    assert.same({ 'You', '\\---', '', '---' }, text.lines('You\n---\n\n---'))
    assert.same({ 'Tark', '\\===' }, text.lines('Tark\n==='))
    assert.same({ '\\? run_command ls  <CR> answers' }, text.lines('? run_command ls  <CR> answers'))
  end)

  it('shows cited code as a link and a fenced block', function()
    local cited = 'See <code="src/a.py" #10:12>\ndef a():\n    return "<\\/code>"\n</code>, then'
    assert.same({
      'See ',
      '[src/a.py:10-12](src/a.py#L10-L12)',
      '````python',
      'def a():',
      '    return "</code>"',
      '````',
      ', then',
    }, text.lines(cited))
    assert.same({ '[a.lua:3](a.lua#L3)' }, text.lines('<code="a.lua" #3></code>'))
    assert.same({ '[a:3](a#L3)', '````', 'cut', '````' }, text.lines('<code="a" #3>\ncut'))
    assert.same({ '[a b:1](a%20b#L1)', '````', '    ````', '````' }, text.lines('<code="a b" #1>\n````\n</code>'))
    assert.same({ '```', '<code="a" #1>', '```' }, text.lines('```\n<code="a" #1>\n```'))
  end)

  it('contains nothing that a buffer does not accept', function()
    assert.same({ 'a\\u{0}b', 'c\\u{1b}\td\\u{202e}' }, text.lines('a\0b\r\nc\27\td\226\128\174'))
    local written = 'a\194\160: \226\154\160\239\184\143'
    assert.same({ written }, text.lines(written))
    local long = ('ü'):rep(3001) .. '\nend'
    local lines = text.lines(long)
    assert.same(long, table.concat(lines, '', 1, #lines - 1) .. '\n' .. lines[#lines])
    for _, line in ipairs(lines) do
      assert.is_true(#line <= 2000)
    end
  end)

  it("is not nested so deeply that Neovim's parser crashes", function()
    assert.same('- - x', text.limit_nesting('- - x'))
    local depths = { ('> '):rep(300), ('>'):rep(300), ('- '):rep(300), (' '):rep(600) .. '- ', ('\t1.'):rep(90) }
    for _, deep in ipairs(depths) do
      local shallow = text.limit_nesting(deep .. 'x')
      local signs = shallow:match('^[^\\]*')
      assert.is_true(#signs <= 130, shallow)
      assert.same(deep .. 'x', (shallow:gsub('\\', '', 1)))
      local nested = {}
      for depth = 0, 300 do
        nested[depth + 1] = text.limit_nesting('> ' .. ('  '):rep(depth) .. '- x')
      end
      vim.treesitter.get_string_parser(table.concat({ shallow, unpack(nested) }, '\n'), 'markdown'):parse(true)
    end
    local words = ('word '):rep(100)
    assert.same(words, text.limit_nesting(words))
  end)

  it('is the same for any division into pieces', function()
    local whole = text.lines(HOSTILE)
    for piece = 1, 40 do
      assert.same(whole, streamed(HOSTILE, piece))
    end
  end)

  it('continues where it ended', function()
    local _, cursor = text.advance(text.start(), ('line\n'):rep(1000))
    assert.same({ 1000, 5000 }, { cursor.count, cursor.offset })
    assert.same({ 'more' }, (text.advance(cursor, ('line\n'):rep(1000) .. 'more')))
  end)
end)
