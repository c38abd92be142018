---What happens when a server ends: what waited for it is cleared up, and it is started again, but not for ever.
local notify = require('tark.notify')
local state = require('tark.state')

local M = {}

local WITHIN_MS = 60000
local MOST = 3
local PATIENCE_MS = 3000

local ends = {} ---@type table<string, integer[]> when it ended against its will, in ms, by folder ('' for none)
local wanted = {} ---@type table<integer, true> clients that are stopped so as to be started again

---@param root? string
---@return integer count within the last minute, with this one
local function count(root)
  local key, now = root or '', vim.uv.now()
  ends[key] = vim.tbl_filter(function(at)
    return now - at < WITHIN_MS
  end, ends[key] or {})
  table.insert(ends[key], now)
  return #ends[key]
end

---@param root? string
---@param buffers integer[]
---@param said? string once it is there
local function start(root, buffers, said)
  require('tark.server').start(root, buffers, function(problem)
    if problem or said then
      notify.say(problem or said, problem and vim.log.levels.WARN)
    end
  end)
end

---A client was there, and is not any more.
---@param client vim.lsp.Client
---@param ending tark.Ending
---@param buffers integer[] that were attached
function M.ended(client, ending, buffers)
  local root = client.root_dir
  local known = state.of(client.id)
  local turns = require('tark.updates').ended(known)
  if wanted[client.id] then
    wanted[client.id], ends[root or ''] = nil, nil
    return start(root, buffers, 'the server was started anew')
  end
  -- Neovim's own field: true of a client that was told to stop, by us or by the person.
  local stopping = client._is_stopping or (client._is_stopping == nil and ending.signal == 15)
  if stopping or (ending.code == 0 and ending.signal == 0) then
    return
  end
  local cut = turns == 0 and '' or turns == 1 and ', 1 turn was cut' or (', %d turns were cut'):format(turns)
  if count(root) < MOST then
    notify.warn(('the server ended (%s)%s; it is started again'):format(ending.words, cut))
    start(root, buffers)
  else
    local what = 'the server ended %d times within a minute (%s)%s and stays down: :checkhealth tark, :TarkRestart'
    notify.warn(what:format(MOST, ending.words, cut))
  end
end

---Start the server of a buffer anew, or for the first time.
---@param bufnr? integer 0 or nil: the current one
function M.restart(bufnr)
  local server = require('tark.server')
  local client = server.client(bufnr)
  if not client then
    return server.ensure(bufnr, function(problem)
      notify.say(problem or 'the server is started', problem and vim.log.levels.WARN)
    end)
  end
  wanted[client.id] = true
  client:stop()
  vim.defer_fn(function()
    if wanted[client.id] then
      client.rpc.terminate() -- it does not listen
    end
  end, PATIENCE_MS)
end

return M
