---Sends a command whose answer the user waits for. Starts a server if none runs, and shows problems.
local lifecycle = require('tark.server.lifecycle')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local state = require('tark.state')

---@param command string of docs/protocol.md
---@param argument table|fun(server_state: tark.State): table
---@param done fun(answer: any, server_state: tark.State)
---@param failed? fun(problem: string) nil: the problem is shown as a message
return function(command, argument, done, failed)
  lifecycle.ensure_server(nil, function(problem, client)
    if not client then
      return notify.warn(problem or 'no server is running')
    end
    local server_state = state.of_client(client.id)
    local value = type(argument) == 'function' and argument(server_state) or argument --[[@as table]]
    requests.send_command(client, command, value, function(refusal, answer)
      if refusal then
        return (failed or notify.warn)(refusal)
      end
      done(answer, server_state)
    end)
  end)
end
