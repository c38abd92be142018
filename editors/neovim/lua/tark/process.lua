---The server's process: which program it is, how it is started, and how it ended.
local config = require('tark.config')

local M = {}

---@class tark.Ending
---@field code integer
---@field signal integer
---@field words string 'exit code 1: No module named tark_lsp'
---@field program? string nil: it was not started by us
---@field from? integer where in the log its words begin

local endings = setmetatable({}, { __mode = 'k' }) ---@type table<vim.lsp.rpc.PublicClient, tark.Ending>
local refused = setmetatable({}, { __mode = 'k' }) ---@type table<vim.lsp.rpc.PublicClient, string>

---Which server the plugin belongs to: written by `tark-lsp install neovim`. Never by require(): where there is
---none that goes on to the working directory, and runs what a repository has there.
---@return string[]? cmd
function M.installed()
  for _, path in ipairs(vim.api.nvim_get_runtime_file('lua/tark/installed.lua', true)) do
    local note = path == vim.fn.fnamemodify(path, ':p') and loadfile(path)
    if note then
      return note().cmd
    end
  end
end

---The program: of `setup`, else the one that installed this plugin, else `tark-lsp` in PATH.
---@return string[]? cmd
---@return string from 'setup', 'installed' or 'PATH'; without a cmd what to do about it
function M.find()
  local own = config.get().cmd
  if own then
    local cmd = vim.list_slice(own)
    cmd[1] = cmd[1]:match('^~') and vim.fs.normalize(cmd[1]) or cmd[1]
    if vim.fn.executable(cmd[1]) == 1 then
      return cmd, 'setup'
    end
    return nil, ("cmd of require('tark').setup is %s, which is no program that can be run"):format(cmd[1])
  end
  local installed = M.installed()
  if installed and vim.fn.executable(installed[1]) == 1 then
    return installed, 'installed'
  end
  if vim.fn.executable('tark-lsp') == 1 then
    return { 'tark-lsp' }, 'PATH'
  end
  return nil, 'no tark-lsp was found (:checkhealth tark)'
end

---How many bytes the language client has logged. What a server writes to stderr is there, and nowhere else.
local function logged()
  local stat = vim.uv.fs_stat(vim.lsp.log.get_filename())
  return stat and stat.size or 0
end

---@param from integer
---@return string? line the last one that the program wrote to stderr since
local function last_words(program, from)
  local file = io.open(vim.lsp.log.get_filename(), 'rb')
  if not file then
    return nil
  end
  file:seek('set', from)
  local words
  for line in file:lines() do
    local _, after = line:find('"stderr"%s+', 1)
    if after and line:find(vim.inspect(program), 1, true) then
      -- As vim.inspect() wrote it: quoted, ends of lines as \n.
      local text = line:sub(after + 1):gsub('\\n', '\n'):gsub('\\(.)', '%1'):sub(2, -2)
      words = vim.trim(text):match('[^\n]+$') or words
    end
  end
  file:close()
  return words and (#words > 200 and words:sub(1, 200) .. '…' or words)
end

---@param code integer
---@param signal integer
local function words_of(code, signal)
  local killed = signal == 9 and 'killed' or signal ~= 0 and 'ended'
  return killed and ('%s by signal %d'):format(killed, signal) or ('exit code %d'):format(code)
end

---Neovim raises an error in the face of the person where what is read has no header, and never reads on.
---@param start fun(): vim.lsp.rpc.PublicClient
---@param broken fun() called then, in a fast event
---@return vim.lsp.rpc.PublicClient
local function reading_on(start, broken)
  local create = vim.lsp.rpc.create_read_loop
  if not create then
    return start()
  end
  vim.lsp.rpc.create_read_loop = function(...)
    local read = create(...)
    return function(...)
      if not pcall(read, ...) then
        broken()
      end
    end
  end
  local ok, rpc = pcall(start)
  vim.lsp.rpc.create_read_loop = create
  return ok and rpc or error(rpc, 0)
end

---In place of Neovim's own, whose words take several lines, so that a key must be pressed.
---@param on_error? fun(code: integer, problem: any) of the person's config
---@return fun(code: integer, problem: any)
local function told(on_error)
  local errors = vim.lsp.rpc.client_errors
  return function(code, problem)
    vim.lsp.log.error('tark', errors[code], problem)
    if on_error then
      pcall(on_error, code, problem)
    end
    if code == errors.INVALID_SERVER_JSON or code == errors.INVALID_SERVER_MESSAGE or code == errors.READ_ERROR then
      require('tark.notify').warn('the server said what is no LSP (the log has it: :checkhealth vim.lsp)')
    elseif code ~= errors.NO_RESULT_CALLBACK_FOUND then -- it answers what was cancelled meanwhile
      require('tark.notify').bug(problem)
    end
  end
end

---`cmd` for vim.lsp.start(). A function and not a list, so that it is looked for anew at each start, that a program
---which is no language server ends in words instead of an error stack, and that its end is told once, by us.
---@param cmd? string[] nil: the one that is found
---@return fun(dispatchers: vim.lsp.rpc.Dispatchers, client_config: vim.lsp.ClientConfig): vim.lsp.rpc.PublicClient
function M.rpc(cmd)
  return function(dispatchers, client_config)
    local found, problem = cmd, nil
    if not found then
      found, problem = M.find()
    end
    if not found then
      error(problem, 0)
    end
    local from, rpc = logged(), nil
    local on_exit = dispatchers.on_exit
    dispatchers.on_exit = function(code, signal)
      endings[rpc] = { code = code, signal = signal, program = found[1], from = from }
      on_exit(0, 0) -- else Neovim tells of it, too: two lines are one too many, a key must be pressed then
    end
    dispatchers.on_error = told(client_config.on_error)
    rpc = reading_on(function()
      return vim.lsp.rpc.start(found, dispatchers, {
        cwd = client_config.cmd_cwd,
        env = client_config.cmd_env,
        detached = client_config.detached,
      })
    end, function()
      refused[rpc] = refused[rpc] or ('%s said what is no LSP'):format(found[1])
      rpc.terminate()
    end)
    local request = rpc.request
    rpc.request = function(method, params, callback, ...)
      return request(method, params, method ~= 'initialize' and callback or function(failed, result)
        if failed or type(result) ~= 'table' or type(result.capabilities) ~= 'table' then
          refused[rpc] = ('%s is no language server: %s'):format(found[1], failed and failed.message or 'odd answer')
          rpc.terminate()
        else
          callback(failed, result)
        end
      end, ...)
    end
    return rpc
  end
end

---`cmd` of a config that says nothing else.
M.start = M.rpc()

---How a client's process ended. Not in fast events.
---@param client vim.lsp.Client
---@param code integer as Neovim says it
---@param signal integer
---@return tark.Ending
function M.ending(client, code, signal)
  local ending = endings[client.rpc] or { code = code, signal = signal }
  ending.words = refused[client.rpc] or words_of(ending.code, ending.signal)
  ending.code = refused[client.rpc] and 1 or ending.code -- however well it took that we ended it
  local words = ending.program and not refused[client.rpc] and last_words(ending.program, ending.from)
  if words and ending.signal == 0 then
    ending.words = ending.words .. ': ' .. words
  end
  return ending
end

return M
