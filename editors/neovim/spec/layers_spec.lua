---The layers of the plugin: a module requires only modules of its own layer and of the layers below it, and no module
---requires itself through others. What a lower layer has to tell an upper one goes to listeners
---(lua/tark/listeners.lua).
local folder =
  vim.fs.joinpath(vim.fs.dirname(vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))), 'lua')

---From the lowest to the highest. A name that ends with a dot stands for all modules below it.
local LAYERS = {
  {
    'shared',
    'tark.config',
    'tark.figures',
    'tark.file_stamps',
    'tark.float',
    'tark.highlights',
    'tark.kept_text',
    'tark.listeners',
    'tark.mapped_keys',
    'tark.notify',
    'tark.similar',
    'tark.text_range',
    'tark.types',
    'tark.unnamed',
    'tark.version',
    'tark.visible',
    'tark.visible_ranges',
    'tark.workspace',
  },
  { 'process', 'tark.server.discovery', 'tark.server.process' },
  { 'client', 'tark.server.' },
  { 'state', 'tark.state', 'tark.state.' },
  {
    'views',
    'tark.chat',
    'tark.chat.',
    'tark.input.',
    'tark.permission.',
    'tark.review.',
    'tark.status',
    'tark.turn_notices',
    'tark.user_events',
    'tark.waiting.',
  },
  {
    'commands',
    'tark',
    'tark.autostart',
    'tark.commands.',
    'tark.health',
    'tark.mcp.',
    'tark.pickers.',
    'tark.renaming',
    'tark.startup',
  },
}

---Modules that name other modules in tables or in calls of their own instead of `require('...')`.
local LAZY = { ['tark'] = true, ['tark.startup'] = true }

---@param module string
---@return integer? layer
local function layer_of(module)
  for number, layer in ipairs(LAYERS) do
    for index = 2, #layer do
      local name = layer[index]
      if module == name or (name:sub(-1) == '.' and vim.startswith(module, name)) then
        return number
      end
    end
  end
end

---@param line string
---@return string without comments and strings in double quotes
local function code_of(line)
  return (line:gsub('%-%-.*$', ''):gsub('"[^"]*"', '""'))
end

---@return table<string, string[]> required modules by module
---@return string[] requires whose module is not a literal
local function read_requires()
  local requires, unknown = {}, {}
  for path in vim.fs.dir(folder, { depth = 4 }) do
    local module = path:match('^(.*)%.lua$')
    if module then
      module = module:gsub('/', '.'):gsub('%.init$', '')
      requires[module] = {}
      for line in io.lines(vim.fs.joinpath(folder, path)) do
        local code = code_of(line)
        local pattern = LAZY[module] and "'(tark%.?[%w_.]*)'" or "require%('(tark[%w_.]*)'%)"
        for required in code:gmatch(pattern) do
          table.insert(requires[module], required)
        end
        local is_dynamic = code:find('require%([%a_]') or code:find('[%s(,]require[%s,)]')
        if is_dynamic and not LAZY[module] then
          table.insert(unknown, path .. ': ' .. line)
        end
      end
    end
  end
  return requires, unknown
end

describe('the modules', function()
  local requires, unknown = read_requires()

  it('require each other by literal names', function()
    assert.same({}, unknown)
    assert.is_true(vim.tbl_count(requires) > 80)
  end)

  it('are each in one layer, and exist', function()
    for module, required in pairs(requires) do
      assert.is_number(layer_of(module), module)
      for _, name in ipairs(required) do
        assert.is_table(requires[name], module .. ' requires ' .. name)
      end
    end
  end)

  it('require no module of an upper layer', function()
    local upward = {}
    for module, required in pairs(requires) do
      for _, name in ipairs(required) do
        if layer_of(name) > layer_of(module) then
          table.insert(upward, module .. ' requires ' .. name)
        end
      end
    end
    assert.same({}, upward)
  end)

  it('are in no cycle', function()
    local visited, path, cycles = {}, {}, {}
    local function visit(module)
      if path[module] then
        table.insert(cycles, module .. ' requires itself through others')
      elseif not visited[module] then
        path[module] = true
        vim.iter(requires[module]):each(visit)
        path[module], visited[module] = nil, true
      end
    end
    vim.iter(vim.tbl_keys(requires)):each(visit)
    assert.same({}, cycles)
  end)
end)

describe('the methods that upper layers answer', function()
  it('are all registered by the modules that startup loads', function()
    local handlers = require('tark.server.handlers')
    require('tark.startup').load_modules()
    for _, method in ipairs(handlers.REGISTERED) do
      assert.is_true(handlers.is_registered(method), method)
    end
  end)
end)
