local state = require('tark.state')

describe('a state', function()
  it('continues with the next server of its folder', function()
    local first, other = state.begin(101, '/one'), state.begin(102, '/two')
    first.session_id, first.alive = 's', false
    assert.same(first, state.begin(103, '/one'))
    assert.same({ 103, true, 's' }, { first.client_id, first.alive, first.session_id })
    assert.are_not.equal(first, state.begin(104, '/one'))
    assert.same(other, state.of_client(102))
  end)

  it('gets no more updates of a client that has ended', function()
    local first = state.begin(201, '/three')
    first.alive = false
    state.begin(202, '/three')
    assert.are_not.equal(first, state.of_client(201))
    assert.is_false(state.of_client(201).alive)
    assert.is_false(vim.list_contains(state.all(), state.of_client(201)))
  end)
end)

describe('listeners', function()
  it('can stop themselves and each other while they are called', function()
    local heard, stops = {}, {}
    for number = 1, 3 do
      stops[number] = state.on('hunks', function(word)
        table.insert(heard, number .. word)
        stops[number]()
        if number == 1 then
          stops[2]()
        end
      end)
    end
    state.emit('hunks', 'a')
    state.emit('hunks', 'b')
    assert.same({ '1a', '3a' }, heard)
  end)

  it('are called even if another one fails', function()
    local heard = false
    local stops = {
      state.on('input', function()
        error('odd')
      end),
      state.on('input', function()
        heard = true
      end),
    }
    state.emit('input')
    assert.is_true(heard)
    for _, stop in ipairs(stops) do
      stop()
    end
  end)
end)
