local commit_buffer = require('tark.commands.commit_buffer')

local SCISSORS = ' ------------------------ >8 ------------------------'

---@param lines string[]
---@param name? string
---@return integer
local function buffer(lines, name)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  if name then
    vim.api.nvim_buf_set_name(bufnr, name)
  end
  return bufnr
end

describe('the buffer of a commit', function()
  it('tells a message from comments, and inserts above all', function()
    for _, row in ipairs({
      { { '', '# Please', '#' }, true, { 'fix: it', '', '# Please', '#' } },
      { { '' }, true, { 'fix: it' } },
      { { '', '; Please', '; # no comment', ';' }, true, { 'fix: it', '', '; Please', '; # no comment', ';' } },
      { { '', '# Please', '#' .. SCISSORS, 'diff' }, true, { 'fix: it', '', '# Please', '#' .. SCISSORS, 'diff' } },
      { { '', '# mine', ';' }, false, { 'fix: it', '', '# mine', ';' } },
      { { 'mine', '# Please' }, false, { 'fix: it', '', 'mine', '# Please' } },
      { { '', '# Please', '#', '', 'below' }, false, { 'fix: it', '', '# Please', '#', '', 'below' } },
    }) do
      local bufnr = buffer(row[1])
      assert.are.equal(row[2], commit_buffer.is_empty(bufnr), vim.inspect(row[1]))
      commit_buffer.insert(bufnr, 'fix: it')
      assert.are.same(row[3], vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
    end
  end)

  it('keeps lines that Git would take for comments', function()
    local bufnr = buffer({ '', '# Please', '#' })
    commit_buffer.insert(bufnr, 'fix: it\n\n#12')
    assert.are.same({ 'fix: it', '', ' #12', '', '# Please', '#' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  end)

  it('finds the files of a repository, a linked worktree and a submodule', function()
    local top = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. '/commit'
    local function file(path, text)
      vim.fn.mkdir(vim.fs.dirname(vim.fs.joinpath(top, path)), 'p')
      vim.fn.writefile({ text }, vim.fs.joinpath(top, path))
    end
    file('main/.git/worktrees/other/gitdir', top .. '/other/.git')
    file('main/.git/modules/sub/HEAD', '')
    file('main/sub/.git', 'gitdir: ../.git/modules/sub')
    file('main/sub/folder/file', '')
    for folder, found in pairs({
      ['main/.git'] = '/main',
      ['main/.git/worktrees/other'] = '/other',
      ['main/.git/modules/sub'] = '/main/sub',
      ['main'] = false,
    }) do
      vim.fn.chdir(top .. '/main/sub/folder')
      local bufnr = buffer({}, ('%s/%s/COMMIT_EDITMSG'):format(top, folder))
      assert.are.equal(found and top .. found or nil, commit_buffer.work_tree(bufnr), folder)
    end
    vim.fn.delete(top, 'rf')
  end)
end)
