---The server's process: starts it, and reports how it ended.
local discovery = require('tark.server.discovery')
local notify = require('tark.notify')

local M = {}

---@class tark.Ending
---@field code integer
---@field signal integer
---@field reason string 'exit code 1: No module named tark_lsp'
---@field program? string nil: the plugin did not start it
---@field log_offset? integer where its output begins in the log

local endings = setmetatable({}, { __mode = 'k' }) ---@type table<vim.lsp.rpc.PublicClient, tark.Ending>
local refused = setmetatable({}, { __mode = 'k' }) ---@type table<vim.lsp.rpc.PublicClient, string>

---Size of the language client's log in bytes. The log is the only place where the stderr of a server can be read.
local function log_size()
  local stat = vim.uv.fs_stat(vim.lsp.log.get_filename())
  return stat and stat.size or 0
end

---@param log_offset integer
---@return string? line the last line that the program wrote to stderr since `log_offset`
local function last_stderr_line(program, log_offset)
  local file = io.open(vim.lsp.log.get_filename(), 'rb')
  if not file then
    return nil
  end
  file:seek('set', log_offset)
  local last
  for line in file:lines() do
    local _, after = line:find('"stderr"%s+', 1)
    if after and line:find(vim.inspect(program), 1, true) then
      -- vim.inspect() wrote it: in quotes, with line breaks as \n.
      local text = line:sub(after + 1):gsub('\\n', '\n'):gsub('\\(.)', '%1'):sub(2, -2)
      last = vim.trim(text):match('[^\n]+$') or last
    end
  end
  file:close()
  return last and (#last > 200 and last:sub(1, 200) .. '…' or last)
end

---@param code integer
---@param signal integer
local function describe_exit(code, signal)
  local killed = signal == 9 and 'killed' or signal ~= 0 and 'ended'
  return killed and ('%s by signal %d'):format(killed, signal) or ('exit code %d'):format(code)
end

---Calls `on_broken` if the output of a program has no LSP header. Neovim itself would show an error to the user, and
---stop reading.
---@param start fun(): vim.lsp.rpc.PublicClient
---@param on_broken fun() called in a fast event
---@return vim.lsp.rpc.PublicClient
local function with_safe_reading(start, on_broken)
  local create = vim.lsp.rpc.create_read_loop
  if not create then
    return start()
  end
  vim.lsp.rpc.create_read_loop = function(...)
    local read = create(...)
    return function(...)
      if not pcall(read, ...) then
        on_broken()
      end
    end
  end
  local ok, rpc = pcall(start)
  vim.lsp.rpc.create_read_loop = create
  return ok and rpc or error(rpc, 0)
end

---Replaces Neovim's own function, whose message takes several lines, which makes Neovim wait for a key.
---@param on_error? fun(code: integer, problem: any) of the user's configuration
---@return fun(code: integer, problem: any)
local function error_reporter(on_error)
  local errors = vim.lsp.rpc.client_errors
  return function(code, problem)
    vim.lsp.log.error('tark', errors[code], problem)
    if on_error then
      pcall(on_error, code, problem)
    end
    if code == errors.INVALID_SERVER_JSON or code == errors.INVALID_SERVER_MESSAGE or code == errors.READ_ERROR then
      notify.warn('the server sent something that is not LSP (the log has it: :checkhealth vim.lsp)')
    elseif code ~= errors.NO_RESULT_CALLBACK_FOUND then -- it answered a request that was cancelled
      notify.internal_error(problem)
    end
  end
end

---`cmd` for vim.lsp.start(). It is a function and not a list for three reasons: each start looks for the program again,
---a program that is not a language server leads to a message instead of an error stack, and only the plugin reports its
---end.
---@param cmd? string[] with an absolute path; nil: what `discovery.find_program` finds
---@return fun(dispatchers: vim.lsp.rpc.Dispatchers, client_config: vim.lsp.ClientConfig): vim.lsp.rpc.PublicClient
function M.rpc(cmd)
  return function(dispatchers, client_config)
    local found, problem = cmd, nil
    if not found then
      found, problem = discovery.find_program(client_config.root_dir)
    end
    if not found then
      error(problem, 0)
    end
    local log_offset, rpc = log_size(), nil
    local on_exit = dispatchers.on_exit
    dispatchers.on_exit = function(code, signal)
      endings[rpc] = { code = code, signal = signal, program = found[1], log_offset = log_offset }
      on_exit(0, 0) -- else Neovim reports it, too, and two lines of messages wait for a key
    end
    dispatchers.on_error = error_reporter(client_config.on_error)
    rpc = with_safe_reading(function()
      return vim.lsp.rpc.start(found, dispatchers, {
        cwd = client_config.cmd_cwd,
        env = client_config.cmd_env,
        detached = client_config.detached,
      })
    end, function()
      refused[rpc] = refused[rpc] or ('%s sent something that is not LSP'):format(found[1])
      rpc.terminate()
    end)
    local request = rpc.request
    rpc.request = function(method, params, callback, ...)
      return request(method, params, method ~= 'initialize' and callback or function(failed, result)
        if failed or type(result) ~= 'table' or type(result.capabilities) ~= 'table' then
          refused[rpc] = ('%s is not a language server: %s'):format(
            found[1],
            failed and failed.message or 'unexpected answer'
          )
          rpc.terminate()
        else
          callback(failed, result)
        end
      end, ...)
    end
    return rpc
  end
end

---`cmd` of a configuration that names no program.
M.start = M.rpc()

---How a client's process ended. Not to be called in fast events.
---@param client vim.lsp.Client
---@param code integer as Neovim reports it
---@param signal integer
---@return tark.Ending
function M.ending(client, code, signal)
  local ending = endings[client.rpc] or { code = code, signal = signal }
  ending.reason = refused[client.rpc] or describe_exit(ending.code, ending.signal)
  ending.code = refused[client.rpc] and 1 or ending.code -- even if it exits with 0 after the plugin ended it
  local last = ending.program and not refused[client.rpc] and last_stderr_line(ending.program, ending.log_offset)
  if last and ending.signal == 0 then
    ending.reason = ending.reason .. ': ' .. last
  end
  return ending
end

return M
