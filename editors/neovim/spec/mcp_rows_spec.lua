---The list of MCP servers and hooks: what each state looks like, what has a switch, and what is told of news.
local rows = require('tark.mcp.rows')

local TOOL = { name = 'add', fullName = 'mcp__toy__add', description = 'Adds two numbers.', state = 'on', reason = '' }
local SERVER = {
  name = 'toy',
  origin = 'user',
  source = '',
  state = 'running',
  reason = '',
  runs = '/bin/toy x',
  unconfined = '',
  problems = {},
  tools = { TOOL },
}
local HOOK = {
  name = 'check',
  on = 'turnEnd',
  origin = 'project',
  source = '/w/.tark/hooks.toml',
  state = 'waiting',
  reason = '',
  runs = '/bin/true',
}

local function list(given, hooks, unfolded)
  local servers = { trusted = true, canTrust = true, servers = given, problems = {} }
  return rows.of(servers, { hooks = hooks or {}, problems = {} }, unfolded or {})
end

local function server_row(changes)
  return list({ vim.tbl_extend('force', SERVER, changes) })[2]
end

describe('the list of MCP servers', function()
  it('says the state, the error and the tools of a server, and whether it has a switch', function()
    local off = vim.tbl_extend('force', TOOL, { name = 'sub', state = 'off' })
    local expected = {
      { {}, '✓ toy · running · 1 tool · /bin/toy x', true },
      { { tools = { TOOL, off } }, '✓ toy · running · 1 of 2 tools · /bin/toy x', true },
      {
        { state = 'off', reason = 'you switched it off' },
        '- toy · off · you switched it off · 1 tool · /bin/toy x',
        false,
      },
      { { state = 'waiting', tools = {} }, '? toy · waits for your approval · /bin/toy x', nil },
      {
        { state = 'failed', reason = 'no\ndatabase' },
        '✗ toy · failed · no⏎database · 1 tool · /bin/toy x',
        nil,
      },
      { { unconfined = 'no bubblewrap' }, '✓ toy · running · 1 tool · without a sandbox · /bin/toy x', true },
    }
    for _, row in ipairs(expected) do
      local found = server_row(row[1])
      assert.same(row[2], found.text)
      assert.same(row[3], found.is_on)
    end
  end)

  it('shows the tools of a server that is unfolded', function()
    local tools = vim.tbl_map(function(state)
      return vim.tbl_extend('force', TOOL, { state = state })
    end, { 'on', 'off', 'changed' })
    local found = list({ vim.tbl_extend('force', SERVER, { tools = tools }) }, {}, { toy = true })
    assert.same('    ✓ add · Adds two numbers.', found[3].text)
    assert.same('    ! add · changed, off until you approve it · Adds two numbers.', found[5].text)
    assert.same({ true, false }, { found[3].is_on, found[4].is_on })
    assert.is_nil(found[5].is_on)
  end)

  it('has the hooks after the servers, and says why it is empty', function()
    local found = list({ SERVER }, { HOOK })
    assert.same('? check · hook, turnEnd · waits for your approval · /bin/true', found[3].text)
    assert.same('There are no MCP servers and no hooks. o adds a server.', list({})[2].text)
    local untrusted = { trusted = false, canTrust = true, servers = {}, problems = {} }
    assert.same(rows.NO_TRUST .. ' t trusts it.', rows.of(untrusted, { hooks = {}, problems = {} }, {})[2].text)
  end)
end)

describe('news', function()
  local server = { kind = 'server', name = 'toy', changed = false }
  local hook = { kind = 'hook', name = 'check', changed = true }

  it('are one sentence', function()
    assert.same('the MCP server toy waits for your approval', rows.news({ server }))
    assert.same('the hook check changed since you approved it, so it is off', rows.news({ hook }))
    assert.same('1 hook and 2 MCP servers wait for your approval', rows.news({ server, hook, server }))
  end)
end)
