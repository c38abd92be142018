---What the server gets to its requests, as Neovim's client asks for it: a result, or an error.
describe('the handlers of requests', function()
  local handlers = require('tark.handlers')
  local method = 'tark/save'

  local function answered(by)
    package.loaded['tark.save'] = { answer = by }
    local result, problem = handlers[method](nil, {}, { client_id = 1 })
    package.loaded['tark.save'] = nil
    return result, problem
  end

  it('give what was answered', function()
    local result, problem = answered(function()
      return { saved = true }
    end)
    assert.same({ saved = true }, result)
    assert.is_nil(problem)
  end)

  it('give null where that is nothing, since without a result no answer is sent', function()
    local result, problem = answered(function() end)
    assert.same(vim.NIL, result)
    assert.is_nil(problem)
  end)

  it('give an error that was answered', function()
    local result, problem = answered(function()
      return nil, { code = -32800, message = 'taken back' }
    end)
    assert.is_nil(result)
    assert.same({ code = -32800, message = 'taken back' }, problem)
  end)

  it('tell the person what failed, and the server that it did', function()
    local notify, told = require('tark.notify'), nil
    local bug = notify.bug
    notify.bug = function(traceback)
      told = traceback
    end
    local result, problem = answered(function()
      error('no such thing')
    end)
    notify.bug = bug
    assert.is_nil(result)
    assert.same(vim.lsp.protocol.ErrorCodes.InternalError, problem.code)
    assert.truthy(told:find('no such thing', 1, true))
  end)
end)
