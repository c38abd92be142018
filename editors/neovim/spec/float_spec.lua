---Floats in the middle of the screen: they fit into it, and have the border of the options.
local config = require('tark.config')
local float = require('tark.float')

describe('the border', function()
  after_each(function()
    config.set()
    vim.o.winborder = ''
  end)

  it("is the option's, else Neovim's own, else rounded", function()
    assert.same('rounded', float.border())
    vim.o.winborder = 'single'
    assert.same('single', float.border())
    assert.same({}, config.set({ border = 'double' }))
    assert.same('double', float.border())
    assert.same({ 'border must be a border of nvim_open_win(), not 1' }, config.set({ border = 1 }))
  end)
end)

describe('a float', function()
  local function opened(lines, size)
    local bufnr = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
    local window = float.open(bufnr, 'Title', size)
    local found = vim.api.nvim_win_get_config(window)
    assert.same(window, vim.api.nvim_get_current_win())
    vim.api.nvim_win_close(window, true)
    return found
  end

  it('is as large as its text', function()
    local found = opened({ 'one', 'three' })
    assert.same({ 6, 2, ' Title ' }, { found.width, found.height, found.title[1][1] })
    found = opened({ 'one' }, { width = 30, height = 7 })
    assert.same({ 30, 7 }, { found.width, found.height })
  end)

  it('is not larger than the screen', function()
    local lines = {}
    for number = 1, 500 do
      lines[number] = ('x'):rep(number)
    end
    local found = opened(lines)
    assert.is_true(found.width < vim.o.columns and found.height < vim.o.lines)
    assert.is_true(found.row >= 0 and found.col >= 0)
  end)
end)
