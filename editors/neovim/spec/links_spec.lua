local links = require('tark.chat.links')

---As `path first last`.
local function found(line)
  return vim.tbl_map(function(link)
    local words = { link.path, link.first and tostring(link.first), link.last and tostring(link.last) }
    return line:sub(link.start, link.stop) .. ' -> ' .. table.concat(words, ' ')
  end, links.find_links(line))
end

describe('code references', function()
  it('are found in all their forms', function()
    assert.same({ 'src/a.py:10-20 -> src/a.py 10 20' }, found('see src/a.py:10-20.'))
    assert.same({ 'a.py:7 -> a.py 7 7' }, found('(a.py:7)'))
    assert.same({ 'a.py#L7 -> a.py 7 7', 'b.py#L1-L2 -> b.py 1 2' }, found('`a.py#L7` b.py#L1-L2'))
    assert.same({ '[x](a%20b.py#L1-L2) -> a b.py 1 2', '[y](c.py) -> c.py' }, found('[x](a%20b.py#L1-L2), [y](c.py)'))
    assert.same({ '<code="/w/a b.py" #3:9> -> /w/a b.py 3 9' }, found('<code="/w/a b.py" #3:9>'))
    assert.same({ '@file:a.py:3 -> a.py 3 3', '@file:"b c.py" -> b c.py' }, found('@file:a.py:3, @file:"b c.py"'))
    assert.same({ [[C:\w\a.py:3 -> C:\w\a.py 3 3]] }, found([[C:\w\a.py:3]]))
  end)

  it('are not found in other text', function()
    for _, line in ipairs({ 'a:b', 'a:3b', '[page](https://example.org/a.py:10)', 'mail@example.org', '' }) do
      assert.same({}, found(line))
    end
  end)

  it('have line numbers from 1, the last not before the first', function()
    assert.same({ 'a:0 -> a 1 1', 'b:9-3 -> b 9 9' }, found('a:0 b:9-3'))
    assert.same({}, found('a:99999999999999999999'))
  end)

  it('are found quickly in a line of any length', function()
    local line = ('a:'):rep(500000)
    assert.same({}, found(line))
  end)

  it('are found by the column', function()
    local line = 'see a.py:3 and b.py:4'
    assert.same('a.py', links.at(line, 5).path)
    assert.same('b.py', links.at(line, #line).path)
    assert.is_nil(links.at(line, 12))
    assert.same('https://a.b/c', links.url_at('(https://a.b/c).', 8))
    assert.is_nil(links.url_at('file:///etc/passwd javascript:x', 3))
  end)
end)

describe('the file of a reference', function()
  local folder, outside

  before_each(function()
    folder, outside = vim.fn.tempname(), vim.fn.tempname()
    vim.fn.mkdir(folder .. '/src', 'p')
    vim.fn.writefile({ 'a' }, folder .. '/src/a.py')
    vim.fn.writefile({ 'secret' }, outside)
    vim.uv.fs_symlink(outside, folder .. '/leads_out')
  end)

  local function resolved(path)
    return links.resolve(path, { '/nowhere', folder })
  end

  it('is one of the workspace, by a relative or an absolute path', function()
    local real = vim.uv.fs_realpath(folder .. '/src/a.py')
    assert.same(real, resolved('src/a.py'))
    assert.same(real, resolved('./src/../src/a.py'))
    assert.same(real, resolved(folder .. '/src/a.py'))
  end)

  it('is nil if it does not exist, is not a file, or is outside the workspace', function()
    for _, path in ipairs({
      'src/b.py',
      'src',
      outside,
      'leads_out',
      '../' .. vim.fs.basename(outside),
      '//host/a',
      'a\0',
    }) do
      assert.is_nil(resolved(path))
    end
  end)
end)
