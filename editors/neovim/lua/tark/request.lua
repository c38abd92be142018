---A command of the server whose answer a person waits for: a server is started if need be, and a problem is told.
local M = {}

---@param command string of docs/protocol.md
---@param argument table|fun(known: tark.State): table
---@param done fun(answer: any, known: tark.State, client: vim.lsp.Client)
function M.send(command, argument, done)
  local server, notify, state = require('tark.server'), require('tark.notify'), require('tark.state')

  server.ensure(nil, function(problem, client)
    if not client then
      return notify.warn(problem or 'there is no server')
    end
    local known = state.of(client.id)
    local given = type(argument) == 'function' and argument(known) or argument --[[@as table]]
    server.command(client, command, next(given) and given or vim.empty_dict(), function(refusal, answer)
      if refusal then
        return notify.warn(refusal)
      end
      done(answer, known, client)
    end)
  end)
end

---A field that the server may have sent as null.
---@generic T
---@param value T?
---@return T?
function M.known(value)
  if value ~= vim.NIL then
    return value
  end
end

return M
