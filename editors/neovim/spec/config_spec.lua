local config = require('tark.config')

describe('setup', function()
  it('keeps the defaults of options that are not set', function()
    assert.same({}, config.set({ chat = { size = 0.5 } }))
    assert.same('right', config.get().chat.position)
    assert.same(0.5, config.get().chat.size)
    assert.same({}, config.set())
    assert.same(config.defaults, config.get())
  end)

  it('does not change the settings of the server', function()
    local settings = { model = 'openai/gpt-5', permissions = { deny = { 'run_command' } }, any = { thing = 1 } }
    assert.same({}, config.set({ settings = settings }))
    assert.same(settings, config.get().settings)
  end)

  it('knows options that have no default', function()
    assert.same({}, config.set({ cmd = { 'tark-lsp' }, root_markers = { '.git', { 'a', 'b' } } }))
    assert.same({ 'tark-lsp' }, config.get().cmd)
  end)

  it('adds to the kinds that open the chat', function()
    assert.same({}, config.set({ chat = { opens_for = { fix = true, ask = false } } }))
    assert.same({ agent = true, ask = false, explain = true, fix = true }, config.get().chat.opens_for)
  end)

  local wrong = {
    { { autostrat = true }, 'there is no option autostrat: is it autostart?' },
    { { autostart = 'yes' }, 'autostart must be a boolean, not "yes"' },
    { { chat = { positon = 'left' } }, 'there is no option chat.positon: is it chat.position?' },
    { { chat = { position = 'top' } }, "chat.position must be 'right', 'left', 'bottom' or 'float', not \"top\"" },
    { { chat = { size = 40 } }, 'chat.size must be a number above 0 and at most 1, not 40' },
    { { chat = 'left' }, 'chat must be a table, not "left"' },
    { { cmd = 'tark-lsp' }, 'cmd must be a list of strings, { "tark-lsp" }, not "tark-lsp"' },
    { { cmd = {} }, 'cmd must be a list of strings, { "tark-lsp" }, not {}' },
    { { model = 'openai/gpt-5' }, 'there is no option model' },
    { { [1] = true }, 'there is no option 1' },
  }
  for _, case in ipairs(wrong) do
    it('says ' .. case[2], function()
      assert.same({ case[2] }, config.set(case[1]))
      assert.same(config.defaults, config.get())
    end)
  end

  it('reports all problems, and uses the other options', function()
    assert.same(2, #config.set({ keymaps = true, one = 1, chat = { two = 2, size = 1 } }))
    assert.same(true, config.get().keymaps)
    assert.same(1, config.get().chat.size)
    assert.same({ 'setup takes a table' }, config.set('all'))
  end)
end)
