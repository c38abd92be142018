describe('words that differ', function()
  local words = require('tark.review.changed_words')

  ---What of a line is marked, in brackets.
  local function marked(line, ranges)
    for index = #ranges, 1, -1 do
      local from, to = unpack(ranges[index])
      line = line:sub(1, from) .. '[' .. line:sub(from + 1, to) .. ']' .. line:sub(to + 1)
    end
    return line
  end

  local function of(old, new)
    local in_old, in_new = words.changed(old, new)
    return { marked(old, in_old), marked(new, in_new) }
  end

  it('are marked as whole words', function()
    assert.same({ 'return math.[pi] * r', 'return math.[tau] * r' }, of('return math.pi * r', 'return math.tau * r'))
    assert.same({ 'a = 🥧[+]1 # pie', 'a = 🥧[ - ]1 # pie' }, of('a = 🥧+1 # pie', 'a = 🥧 - 1 # pie'))
    assert.same({ 'f(x)', 'f(x[, y])' }, of('f(x)', 'f(x, y)'))
    assert.same({ 'naïve [é] thing', 'naïve [è] thing' }, of('naïve é thing', 'naïve è thing'))
  end)

  it('are not marked if everything differs, nothing differs, or the lines are long', function()
    assert.same({ 'return one', 'while other do' }, of('return one', 'while other do'))
    assert.same({ 'same', 'same' }, of('same', 'same'))
    assert.same({ '', 'new' }, of('', 'new'))
    local long = ('word '):rep(200)
    assert.same({ long, long .. 'x' }, of(long, long .. 'x'))
  end)

  it('are searched if every line has a counterpart', function()
    local in_old, in_new = words.in_lines({ 'a = 1', 'b = 2' }, { 'a = 1', 'b = 3' })
    assert.same({ {}, { { 4, 5 } } }, in_old)
    assert.same({ {}, { { 4, 5 } } }, in_new)
    assert.same({}, (words.in_lines({ 'a = 1' }, { 'a = 1', 'b = 3' })))
  end)
end)

describe('virtual text', function()
  local virtual_text = require('tark.review.virtual_text')
  local style = { sign = '+ ', sign_group = 'Sign', line = 'Line', word = 'Word', tabstop = 4, width = 10, room = 10 }

  it('has blanks for tabs, up to the next stop', function()
    assert.same('a   b', (virtual_text.expand('a\tb', 4)))
    assert.same('    b', (virtual_text.expand('\tb', 4)))
    assert.same('  b', (virtual_text.expand('\tb', 4, 2)))
    assert.same('語  b', (virtual_text.expand('語\tb', 4)))
    assert.same('abcd    ', (virtual_text.expand('abcd\t', 4)))
  end)

  it('shows invisible characters', function()
    assert.same('a\\u{1b}[2J\\u{202e}b', (virtual_text.expand('a\27[2J\u{202e}b', 4)))
  end)

  it('is as wide as the window, and marks words', function()
    local chunks = virtual_text.chunks('\tone two', { { 5, 8 } }, style)
    assert.same({ { '    one ', 'Line' }, { 'two', 'Word' }, { '', 'Line' } }, chunks)
    assert.same({ { 'one', 'Line' }, { '       ', 'Line' } }, virtual_text.chunks('one', nil, style))
  end)

  ---As the screen shows it.
  local function shown(line)
    return vim.tbl_map(function(chunks)
      local words = ''
      for _, chunk in ipairs(chunks) do
        words = words .. chunk[1]
      end
      return (words:gsub('%s+$', ''))
    end, virtual_text.lines({ line }, {}, style))
  end

  it('has a sign, and is broken at the edge of the window', function()
    assert.same({ '+ two = 2' }, shown('two = 2'))
    assert.same({ '+ two = 22', '', '    ; evil', '  ()' }, shown('two = 22' .. (' '):rep(10) .. '; evil()'))
    assert.same({ '+ 語語語語', '  語' }, shown('語語語語語'))
  end)

  it('is cut between characters', function()
    local line = virtual_text.chunks(('é'):rep(400), nil, style)[1][1]
    assert.same(('é'):rep(250), line)
    assert.same('a' .. ('é'):rep(249), virtual_text.chunks('a' .. ('é'):rep(400), nil, style)[1][1])
    local lines = {}
    for number = 1, 1000 do
      lines[number] = tostring(number)
    end
    local drawn = virtual_text.lines(lines, {}, style) -- no number is broken
    assert.same(301, #drawn)
    assert.same('… 700 more lines', drawn[301][1][1])
    assert.is_true(virtual_text.is_cut({ newText = table.concat(lines, '\n') }))
    assert.is_true(virtual_text.is_cut({ newText = ('x'):rep(501) }))
    assert.is_false(virtual_text.is_cut({ newText = 'x\ny\n' }))
  end)
end)

describe('the hunk at a line', function()
  local selection = require('tark.review.selection')
  -- Lines 3 and 4; between 6 and 7; line 10; between 10 and 11.
  local places = { { 3, 2 }, { 7, 0 }, { 10, 1 }, { 11, 0 } }

  it('is the one that contains the line', function()
    assert.same({ 1 }, selection.touched(places, 3, 3))
    assert.same({ 1 }, selection.touched(places, 4, 4))
    assert.same({ 3 }, selection.touched(places, 10, 10))
    assert.same({}, selection.touched(places, 8, 8))
  end)

  it('is the one between this line and a neighbour', function()
    assert.same({ 2 }, selection.touched(places, 6, 6))
    assert.same({ 2 }, selection.touched(places, 7, 7))
    assert.same({ 1 }, selection.touched({ { 0, 0 } }, 0, 0))
  end)

  it('is the one directly above if there is no other', function()
    assert.same({ 1 }, selection.touched(places, 5, 5))
    assert.same({ 4 }, selection.touched(places, 11, 11))
  end)

  it('are all that a selection touches', function()
    assert.same({ 1, 2 }, selection.touched(places, 4, 6))
    assert.same({ 1, 2, 3, 4 }, selection.touched(places, 0, 20))
    assert.same({}, selection.touched(places, 8, 9))
  end)

  it('or is the nearest one', function()
    assert.same(1, selection.nearest(places, 0))
    assert.same(3, selection.nearest(places, 9))
    assert.same(nil, selection.nearest({}, 9))
  end)
end)

describe('a place in an older text', function()
  local map_through = require('tark.review.changes').map_through
  local function change(tick, first, last, new_last)
    return { tick = tick, first = first, last = last, new_last = new_last }
  end

  it('moves with lines that were added or removed above', function()
    assert.same(7, map_through({ change(2, 0, 0, 2) }, 1, 5, 1))
    assert.same(4, map_through({ change(2, 1, 3, 2) }, 1, 5, 1))
    assert.same(6, map_through({ change(2, 5, 5, 6) }, 1, 5, 1))
    assert.same(6, map_through({ change(2, 0, 0, 2), change(3, 1, 2, 1) }, 1, 5, 1))
  end)

  it('stays if lines change below, or before its version', function()
    assert.same(5, map_through({ change(2, 6, 7, 9) }, 1, 5, 1))
    assert.same(5, map_through({ change(2, 0, 0, 2) }, 2, 5, 1))
  end)

  it('between two lines stays below lines that are added there', function()
    assert.same(5, map_through({ change(2, 5, 5, 6) }, 1, 5, 0))
    assert.same(6, map_through({ change(2, 4, 4, 5) }, 1, 5, 0))
  end)

  it('is lost with its lines', function()
    assert.same(nil, map_through({ change(2, 5, 6, 6) }, 1, 5, 1))
    assert.same(nil, map_through({ change(2, 4, 7, 7) }, 1, 5, 2))
    assert.same(nil, map_through({ change(2, 4, 6, 4) }, 1, 5, 0))
  end)
end)

describe('what is sent', function()
  local commands_for = require('tark.review.decide').commands_for
  local server_state = { client_id = 1 }
  local function undecided(id, state, more)
    local hunk = vim.tbl_extend('force', { hunkId = id, state = state, applied = false, newText = 'new\n' }, more or {})
    return { server_state = server_state, uri = 'file:///a', hunk = hunk }
  end
  local function sent(what, ...)
    return vim.tbl_map(function(command)
      return { command.command, command.argument.hunkIds or command.argument.hunkId }
    end, commands_for({ ... }, what))
  end

  it('is one command for all hunks that can be decided together', function()
    local one, two, stale = undecided('one', 'pending'), undecided('two', 'pending'), undecided('three', 'stale')
    assert.same({ { 'tark.hunk.accept', { 'one', 'two', 'three' } } }, sent('accept', one, two, stale))
    assert.same({ { 'tark.hunk.reject', { 'one', 'two', 'three' } } }, sent('reject', one, two, stale))
  end)

  it("is Tark's lines for an accepted conflict, and the user's for a rejected one", function()
    local conflict = undecided('one', 'conflict')
    local typed_over = undecided('two', 'conflict', { applied = true })
    assert.same({ { 'tark.hunk.edit', 'one' }, { 'tark.hunk.edit', 'two' } }, sent('accept', conflict, typed_over))
    assert.same(
      { { 'tark.hunk.reject', { 'one' } }, { 'tark.hunk.accept', { 'two' } } },
      sent('reject', conflict, typed_over)
    )
  end)

  it('goes to the server of the hunk', function()
    local other = undecided('two', 'pending')
    other.server_state = { client_id = 2 }
    assert.same(2, #commands_for({ undecided('one', 'pending'), other }, 'accept'))
  end)
end)

describe('a diff', function()
  local diff = require('tark.review.diff')
  local lines = { 'one', 'two', 'three', 'four', 'five', 'six' }

  it('has the lines around a hunk', function()
    local hunk = { oldText = 'five\n', newText = 'FIVE\n5\n', state = 'pending', applied = false }
    assert.same(
      { '@@ -2,5 +2,6 @@', ' two', ' three', ' four', '-five', '+FIVE', '+5', ' six' },
      diff.hunk_lines(hunk, lines, 4)
    )
  end)

  it('has no lines around a hunk of a new file', function()
    local hunk = { oldText = '', newText = 'new\n', state = 'pending', applied = false }
    assert.same({ '@@ -1,0 +1,1 @@', '+new' }, diff.hunk_lines(hunk, nil, 0))
  end)
end)
