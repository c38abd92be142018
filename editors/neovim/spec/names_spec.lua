---What a module uses of another one exists there. Lua itself would report a wrong name only when the line runs.
describe('a module', function()
  local folder =
    vim.fs.joinpath(vim.fs.dirname(vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))), 'lua')

  ---@param code string
  ---@return table<string, string> module by local name
  local function modules_of(code)
    local modules = {}
    for name, module in code:gmatch("local ([%w_]+) = require%('(tark[%w_.]*)'%)") do
      modules[name] = module
    end
    return modules
  end

  ---@param path string
  ---@return string code without comments
  local function read_code(path)
    local lines = vim.tbl_map(function(line)
      return (line:gsub('%-%-.*$', ''))
    end, vim.fn.readfile(path))
    return '\n' .. table.concat(lines, '\n')
  end

  it('uses only names that exist', function()
    local wrong, checked = {}, 0
    local function check(path, module, name)
      checked = checked + 1
      if require(module)[name] == nil then
        table.insert(wrong, ('%s: %s.%s'):format(path, module, name))
      end
    end
    for path in vim.fs.dir(folder, { depth = 4 }) do
      if path:find('%.lua$') then
        local code = read_code(vim.fs.joinpath(folder, path))
        for local_name, module in pairs(modules_of(code)) do
          for name in code:gmatch('[^%w_./\'"]' .. local_name .. '[.:]([%w_]+)') do
            check(path, module, name)
          end
        end
        for module, name in code:gmatch("require%('(tark[%w_.]*)'%)%.([%w_]+)") do
          check(path, module, name)
        end
        for module, name in code:gmatch("lazy%('(tark[%w_.]*)', '([%w_]+)'") do
          check(path, module, name)
        end
      end
    end
    assert.same({}, wrong)
    assert.is_true(checked > 500)
  end)
end)
