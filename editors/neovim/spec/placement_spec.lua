---The place of the float: it avoids the line of the cursor as long as there is room.
local placement = require('tark.waiting.placement')

local function at(rows, wanted, cursor, side)
  local found = placement.choose(rows, wanted, cursor, side or 'bottom')
  return found.side .. ' ' .. found.height
end

describe('the float', function()
  it('is at the bottom', function()
    assert.same('bottom 10', at(40, 10, 1))
    assert.same('bottom 10', at(40, 10, nil))
  end)

  it('moves away from the cursor, and stays there', function()
    assert.same('top 10', at(40, 10, 35))
    assert.same('top 10', at(40, 10, 20, 'top'))
    assert.same('bottom 10', at(40, 10, 5, 'top'))
  end)

  it('touches the line of the cursor on neither side', function()
    assert.same('bottom 10', at(40, 10, 28))
    assert.same('top 10', at(40, 10, 29))
    assert.same('top 10', at(40, 10, 13, 'top'))
    assert.same('bottom 10', at(40, 10, 12, 'top'))
  end)

  it('is smaller if there is too little room, but not too small to read', function()
    assert.same('top 9', at(20, 10, 12))
    assert.same('bottom 10', at(20, 10, 8))
    assert.same('bottom 9', at(20, 10, 9))
    assert.same('bottom 6', at(8, 10, 4))
  end)

  it('is never higher than the screen', function()
    assert.same('bottom 18', at(20, 100, nil))
    assert.same('bottom 1', at(2, 100, nil))
  end)

  it('as one line is at the lowest row that is free', function()
    local rows = { [10] = {}, [9] = { { 10, 10 } }, [4] = { { 5, 8 }, { 9, 99 } }, [1] = { { 2, 10 } } }
    for expected, taken in pairs(rows) do
      assert.same(expected, placement.free_row(10, taken))
    end
    assert.same(10, placement.free_row(10, { { 0, 10 } }))
  end)

  it('as one line keeps the key, and shortens the title', function()
    local border = require('tark.waiting.border')
    assert.same({ ' Tark asks: edit a.py gp to answer ' }, border.line('edit a.py', 1, 1, 'gp', 80).lines)
    local short = border.line(('long '):rep(30), 2, 3, 'gp', 50).lines[1]
    assert.same(' Tark asks (2 of 3): long long lon…', short:match('^.-…'))
    assert.is_true(vim.api.nvim_strwidth(short) <= 50 and vim.endswith(short, ' gp to answer '))
  end)
end)
