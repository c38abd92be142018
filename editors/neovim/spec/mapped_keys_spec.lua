---The hints on the screen name the keys that the user mapped.
describe('the key of a command', function()
  local mapped_keys

  before_each(function()
    package.loaded['tark.mapped_keys'] = nil -- it caches until Neovim has handled what is pending
    mapped_keys = require('tark.mapped_keys')
    mapped_keys.functions = require('tark')
  end)

  after_each(function()
    vim.cmd('mapclear | mapclear <buffer>')
  end)

  it('is the command if no key is mapped', function()
    vim.keymap.set('n', '<Plug>(tark-accept)', '<Cmd>TarkAccept<CR>')
    vim.keymap.set('n', 'x', ":echo 'TarkAccept'<CR>")
    assert.same(':TarkAccept', mapped_keys.find_key('accept', 'TarkAccept'))
    assert.is_nil(mapped_keys.find_key('next_hunk'))
  end)

  local targets = { '<Plug>(tark-accept)', '<Cmd>TarkAccept<CR>', ':TarkAccept<CR>', require('tark').accept }
  for _, target in ipairs(targets) do
    it('is found if it is mapped to ' .. tostring(target):gsub('0x.*', ''), function()
      vim.keymap.set('n', '<leader>a', '<Plug>(tark-accept!)')
      vim.keymap.set('n', '<leader>y', target)
      assert.same('\\y', mapped_keys.find_key('accept', 'TarkAccept'))
    end)
  end

  it('is that of the buffer before a global one', function()
    vim.keymap.set('n', 'ga', '<Plug>(tark-next-hunk)')
    vim.keymap.set('n', '<C-n>', '<Plug>(tark-next-hunk)', { buffer = true })
    assert.same('<C-N>', mapped_keys.find_key('next_hunk'))
  end)
end)
