---Restarts a server: when it has ended by itself (but not too often), and for `:TarkRestart`.
local clients = require('tark.server.clients')
local connection = require('tark.state.connection')
local figures = require('tark.figures')
local lifecycle = require('tark.server.lifecycle')
local notify = require('tark.notify')
local state = require('tark.state')

local M = {}

local WITHIN_MS = 60000
local MOST_ENDS = 3
local PATIENCE_MS = 3000

local end_times = {} ---@type table<string, integer[]> by folder ('' for none): when a server ended by itself, in ms
local restarting = {} ---@type table<integer, true> ids of clients that are being restarted

---@param root? string
---@return integer number of ends within the last minute, including this one
local function count_ends(root)
  local key, now = root or '', vim.uv.now()
  end_times[key] = vim.tbl_filter(function(time)
    return now - time < WITHIN_MS
  end, end_times[key] or {})
  table.insert(end_times[key], now)
  return #end_times[key]
end

---@param root? string
---@param buffers integer[]
---@param message? string shown once the server has started
local function start(root, buffers, message)
  lifecycle.start_server(root, buffers, function(problem)
    if problem or message then
      notify.info(problem or message, problem and vim.log.levels.WARN)
    end
  end)
end

---@param client vim.lsp.Client that had started
---@param ending tark.Ending
---@param buffers integer[] that were attached
local function server_ended(client, ending, buffers)
  local root = client.root_dir
  local turns = connection.end_server(state.of_client(client.id))
  if restarting[client.id] then
    restarting[client.id], end_times[root or ''] = nil, nil
    return start(root, buffers, 'the server was restarted')
  end
  -- Neovim's own field: true if the plugin or the user stopped the client.
  local was_stopped = client._is_stopping or (client._is_stopping == nil and ending.signal == 15)
  if was_stopped or (ending.code == 0 and ending.signal == 0) then
    return
  end
  local interrupted = turns == 0 and ''
    or (', %s %s interrupted'):format(figures.counted(turns, 'turn'), turns == 1 and 'was' or 'were')
  if count_ends(root) < MOST_ENDS then
    notify.warn(('the server ended (%s)%s; restarting it'):format(ending.reason, interrupted))
    start(root, buffers)
  else
    local message = 'the server ended %d times within a minute (%s)%s and stays down: :checkhealth tark, :TarkRestart'
    notify.warn(message:format(MOST_ENDS, ending.reason, interrupted))
  end
end

---Restarts the server of a buffer, or starts it if none runs.
---@param bufnr? integer 0 or nil: the current one
function M.restart(bufnr)
  local client = clients.for_buffer(bufnr)
  if not client then
    return lifecycle.ensure_server(bufnr, function(problem)
      notify.info(problem or 'the server is started', problem and vim.log.levels.WARN)
    end)
  end
  restarting[client.id] = true
  client:stop()
  vim.defer_fn(function()
    if restarting[client.id] then
      client.rpc.terminate() -- it does not react to the request
    end
  end, PATIENCE_MS)
end

lifecycle.on('ended', server_ended)

return M
