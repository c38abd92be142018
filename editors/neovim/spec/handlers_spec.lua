---What the server gets to its requests, as Neovim's client expects it: a result, or an error.
describe('the handlers of requests', function()
  local handlers = require('tark.server.handlers')
  local METHOD = 'tark/requestInput'

  local function answered(by)
    handlers.register(METHOD, by)
    return handlers.by_method[METHOD](nil, {}, { client_id = 1 })
  end

  it('return the answer', function()
    local result, problem = answered(function()
      return { saved = true }
    end)
    assert.same({ saved = true }, result)
    assert.is_nil(problem)
  end)

  it('return null for no answer, because without a result Neovim sends no response', function()
    local result, problem = answered(function() end)
    assert.same(vim.NIL, result)
    assert.is_nil(problem)
  end)

  it('return an error of the answer', function()
    local result, problem = answered(function()
      return nil, { code = -32800, message = 'taken back' }
    end)
    assert.is_nil(result)
    assert.same({ code = -32800, message = 'taken back' }, problem)
  end)

  it('show a failure to the user, and report it to the server', function()
    local notify, shown = require('tark.notify'), nil
    local internal_error = notify.internal_error
    notify.internal_error = function(traceback)
      shown = traceback
    end
    local result, problem = answered(function()
      error('no such thing')
    end)
    notify.internal_error = internal_error
    assert.is_nil(result)
    assert.same(vim.lsp.protocol.ErrorCodes.InternalError, problem.code)
    assert.truthy(shown:find('no such thing', 1, true))
  end)

  it('are only for methods that are known', function()
    assert.has_error(function()
      handlers.register('tark/noSuchMethod', function() end)
    end)
  end)
end)
