---The commands that plugin/tark.lua defines, and what they call.
describe('the commands', function()
  local folder = vim.fs.dirname(vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2))))
  local source = table.concat(vim.fn.readfile(folder .. '/plugin/tark.lua'), '\n')

  local function rows()
    vim.cmd.source(folder .. '/plugin/tark.lua')
    return vim.iter(vim.api.nvim_get_commands({})):filter(function(name)
      return vim.startswith(name, 'Tark')
    end)
  end

  it('call functions of the module that exist', function()
    local calls = {}
    for name, call in source:gmatch("'(Tark%u?%l*)',%s+'([%l_]+)'") do
      assert.is_function(require('tark')[call], name)
      calls[name] = true
    end
    for name in rows() do
      assert.is_true(calls[name], name)
    end
    assert.is_true(vim.tbl_count(calls) > 15)
  end)

  it('complete by functions that exist', function()
    for module, name in source:gmatch("by%('([%w_.]+)', '([%w_]+)'%)") do
      assert.is_function(require(module)[name], module .. '.' .. name)
    end
    for name, command in rows() do
      assert.same(command.nargs ~= '0', command.complete ~= nil, name)
    end
  end)

  it('do not load the plugin', function()
    local argv = { vim.v.progpath, '--clean', '--headless', '--cmd', 'set rtp^=' .. folder }
    local loaded =
      "lua print(#vim.tbl_filter(function(name) return name:find('^tark') end, vim.tbl_keys(package.loaded)))"
    local ran = vim.system(vim.list_extend(argv, { '+' .. loaded, '+qall!' }), { text = true }):wait()
    assert.same('0', vim.trim(ran.stdout .. ran.stderr))
  end)
end)
