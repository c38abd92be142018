---What is said on the screen of keys is what the person mapped.
describe('the key of a command', function()
  local keymaps

  before_each(function()
    package.loaded['tark.keymaps'] = nil -- it asks once until Neovim goes on
    keymaps = require('tark.keymaps')
  end)

  after_each(function()
    vim.cmd('mapclear | mapclear <buffer>')
  end)

  it('is the command where none is mapped', function()
    vim.keymap.set('n', '<Plug>(tark-accept)', '<Cmd>TarkAccept<CR>')
    vim.keymap.set('n', 'x', ":echo 'TarkAccept'<CR>")
    assert.same(':TarkAccept', keymaps.mapped('accept', 'TarkAccept'))
    assert.is_nil(keymaps.mapped('next_hunk'))
  end)

  local ways = { '<Plug>(tark-accept)', '<Cmd>TarkAccept<CR>', ':TarkAccept<CR>', require('tark').accept }
  for _, way in ipairs(ways) do
    it('is found where it is mapped to ' .. tostring(way):gsub('0x.*', ''), function()
      vim.keymap.set('n', '<leader>a', '<Plug>(tark-accept!)')
      vim.keymap.set('n', '<leader>y', way)
      assert.same('\\y', keymaps.mapped('accept', 'TarkAccept'))
    end)
  end

  it("is the buffer's before others", function()
    vim.keymap.set('n', 'ga', '<Plug>(tark-next-hunk)')
    vim.keymap.set('n', '<C-n>', '<Plug>(tark-next-hunk)', { buffer = true })
    assert.same('<C-N>', keymaps.mapped('next_hunk'))
  end)
end)
