---The text of a request for permission: it is complete, and no part of it can look like text of the plugin.
local content = require('tark.permission.content')

local KEYS = {
  { 'a', 'allow this', line = true },
  { 'r', 'reject' },
  { 'q', 'leave it waiting' },
}

local function request(fields)
  return vim.tbl_extend('force', {
    requestId = 'permission-1',
    title = 'run_command ls',
    risk = 'risky',
    why = 'it runs a command',
    digest = 'd',
    grants = {},
  }, fields)
end

local function command(text, env)
  return { argv = { '/bin/bash', '-c', text }, text = text, cwd = '/work', env = env or {} }
end

local function hunk(fields)
  return vim.tbl_extend('force', {
    hunkId = 'h',
    range = { start = { line = 4, character = 0 }, ['end'] = { line = 5, character = 0 } },
    oldText = '',
    newText = '',
  }, fields)
end

local function built(fields)
  return content.build(request(fields), KEYS, vim.fs.basename, { HOME = '/home/me', PATH = '/bin' })
end

local function lines(fields)
  return built(fields).lines
end

local function group_of(drawn, row, text)
  for _, mark in ipairs(drawn.marks) do
    if mark.row == row - 1 and drawn.lines[row]:sub(mark.from + 1, mark.to) == text then
      return mark.group
    end
  end
end

describe('a command', function()
  it('is shown completely, with its folder and its shell', function()
    assert.same({
      'run_command',
      'risky, asked because it runs a command',
      '',
      '$ ls -la',
      '$ rm x',
      'in   /work',
      'by   /bin/bash -c',
      '',
      'a allow this',
      'r reject   q leave it waiting',
    }, lines({ title = 'run_command ls -la rm x', command = command('ls -la\nrm x\n') }))
    local dangerous = 'run_command rm x (dangerous: it deletes)'
    local heading = lines({ title = dangerous, command = command('rm x') })[1]
    assert.same('run_command (dangerous: it deletes)', heading)
  end)

  it('cannot look like lines of the plugin, or hide characters', function()
    local shown = lines({ command = command('x\nin   /safe\r\n\27[2Ka\226\128\174b') })
    assert.same({ '$ x', '$ in   /safe\\u{d}', '$ \\u{1b}[2Ka\\u{202e}b' }, vim.list_slice(shown, 4, 6))
  end)

  it('shows arguments that are not those of a shell, quoted if necessary', function()
    local own = { argv = { 'git', 'commit', '-m', "it's\nme" }, text = 'git commit', cwd = '/', env = {} }
    assert.truthy(vim.tbl_contains(lines({ command = own }), [[by   git commit -m 'it'\''s⏎me']]))
  end)

  it("counts variables that equal the user's own, and shows the others", function()
    local shown = lines({ command = command('x', { HOME = '/home/me', PATH = '/evil', LD_PRELOAD = 'a b' }) })
    assert.same({ "with 'LD_PRELOAD=a b'  PATH=/evil  and 1 of your own", '' }, vim.list_slice(shown, 7, 8))
  end)
end)

describe('risk', function()
  it('is shown by word and colour', function()
    local drawn = built({ risk = 'dangerous' })
    assert.same('DANGEROUS, asked because it runs a command', drawn.lines[2])
    assert.same('TarkRiskDangerous', group_of(drawn, 2, 'DANGEROUS'))
    assert.same('TarkRiskRisky', group_of(built({ risk = 'of a later server' }), 2, 'of a later server'))
  end)
end)

describe('a title', function()
  it('is shortened in the middle, because its end can say what is dangerous', function()
    local title = content.title(request({ title = ('ä'):rep(400) .. ' (dangerous: it deletes)' }))
    assert.truthy(title:find(' … .*%(dangerous: it deletes%)$'))
    assert.same(title, vim.fn.iconv(title, 'utf-8', 'utf-8'))
  end)

  it('is shown completely if nothing else says what is allowed', function()
    local url = 'fetch https://a.example/' .. ('a'):rep(150) .. '?leak=SECRET' .. ('b'):rep(150)
    assert.falsy(content.title(request({ title = url })):find('SECRET'))
    assert.same({ '> ' .. url }, vim.list_slice(lines({ title = url }), 4, 4))
    assert.same('a allow this', lines({ title = 'fetch https://a.example' })[4])
  end)
end)

describe('a grant', function()
  it('says what it covers, and its key for how long', function()
    local grants = {
      { id = 'g1', covers = '`ls` in this folder, this turn' },
      { id = 'g2', covers = 'edits below src, this session' },
      { id = 'g3', covers = 'something new' },
    }
    local keys = {}
    for number, grant in ipairs(grants) do
      table.insert(keys, content.grant_key(request({}), grant, number))
    end
    assert.same({ 't', 's', '3' }, keys)
    local asked = request({ command = command('ls') })
    local wide = '`ls ...` with any arguments in this folder'
    local offered = {
      { id = 'g1', scope = 'turn', covers = '`ls` in this folder, this turn' },
      { id = 'g2', scope = 'session', covers = '`ls` in this folder, this session' },
      { id = 'g3', scope = 'session', covers = wide .. ', this session' },
      { id = 'g4', scope = 'always', covers = '`ls` in this folder, always' },
      { id = 'g5', scope = 'always', covers = wide .. ', always' },
    }
    local offered_keys = {}
    for number, grant in ipairs(offered) do
      table.insert(offered_keys, content.grant_key(asked, grant, number))
    end
    assert.same({ 't', 's', 'S', 'f', 'F' }, offered_keys)
    assert.same('allow exactly this command in this folder, always', content.describe_grant(asked, offered[4]))
    assert.same('allow ' .. wide .. ', always', content.describe_grant(asked, offered[5]))
    assert.same('allow exactly this command in this folder, this turn', content.describe_grant(asked, grants[1]))
    assert.same('allow edits below src, this session', content.describe_grant(asked, grants[2]))
    assert.same('allow `a⏎b`, this turn', content.describe_grant(asked, { id = 'g', covers = '`a\nb`, this turn' }))
  end)
end)

describe('edits', function()
  local function diff(hunks)
    local edits = { { uri = 'file:///home/me/a.py', hunks = hunks } }
    return vim.list_slice(lines({ edits = edits }), 4, #lines({ edits = edits }) - 3)
  end

  it('are a diff by file and line', function()
    local shown = diff({
      hunk({ oldText = 'one\nsame\n', newText = 'ONE\nsame\nmore' }),
      hunk({ oldText = 'x\n', outsideSelection = true }),
    })
    assert.same({
      'file a.py',
      'line 5',
      '-one',
      '+ONE',
      ' same',
      '+more',
      '\\ No newline at end of file',
      'line 5, outside the selection',
      '-x',
    }, shown)
  end)

  it('say what happens to a file', function()
    local moved = hunk({ operation = { kind = 'move', target = 'file:///home/me/b\226\128\174.py' } })
    assert.same({ 'file a.py', 'move a.py to b\\u{202e}.py' }, diff({ moved }))
    local removed = hunk({ operation = { kind = 'remove' }, oldText = 'x\n' })
    assert.same({ 'file a.py', 'delete a.py', 'line 5', '-x' }, diff({ removed }))
  end)

  it('show line ends only if they differ', function()
    assert.same({ 'file a.py', 'line 5', '-a', '+b' }, diff({ hunk({ oldText = 'a\r\n', newText = 'b\r\n' }) }))
    local changed = diff({ hunk({ oldText = 'a\r\n', newText = 'a\n' }) })
    assert.same({ 'file a.py', 'line 5', '-a\\u{d}', '+a' }, changed)
  end)

  it('leave out decided hunks, and say which ones are not applied', function()
    local shown = diff({
      hunk({ newText = 'a\n', state = 'accepted' }),
      hunk({ newText = 'b\n', state = 'pending' }),
      hunk({ newText = 'c\n', state = 'conflict' }),
    })
    local conflict = 'line 5, in conflict: not applied if you allow this'
    local words = '1 of 3 decided already, this is the rest'
    assert.same({ 'file a.py', 'line 5', '+b', conflict, '+c', words }, shown)
  end)

  it('show invisible characters', function()
    assert.same({ 'file a.py', 'line 5', '+a\\u{200b}\tb' }, diff({ hunk({ newText = 'a\226\128\139\tb\n' }) }))
  end)
end)
