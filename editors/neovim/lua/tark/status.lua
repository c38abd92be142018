---The state of the plugin for statuslines. They read it at each redraw, so it is cached until something changes.
local clients = require('tark.server.clients')
local state = require('tark.state')
local visible = require('tark.visible')

local M = {}

local FRAMES = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' }
local REDRAW_MS = 120
local LONGEST_ACTIVITY = 40

---@class tark.Status
---@field state 'idle'|'working'|'waiting'|'dead' waiting: for the user; dead: the server ended by itself
---@field turns integer running and queued
---@field waiting integer permissions and questions
---@field hunks integer undecided hunks
---@field activity string what the turn does, '' if nothing runs
---@field began? integer start of the oldest turn, of vim.uv.now()
---@field model? string of the current session
---@field mode? string of the current session
---@field agent? string custom agent of the current session
---@field usage? table of the session's last turn (docs/protocol.md, `usage`)
---@field costUsd? number of the session's turns in the transcript
---@field contextUsed? integer tokens
---@field contextWindow? integer tokens

local cached ---@type tark.Status?
local requested = false -- since the last redraw: does a statusline show it?
local redraw_scheduled = false

---@param data tark.Status
local function add_counts(data)
  for _, server_state in ipairs(state.all()) do
    data.waiting = data.waiting + #server_state.permissions + #server_state.inputs
    for _, document in pairs(server_state.hunks) do
      data.hunks = data.hunks + #document.hunks
    end
    data.state = server_state.alive and data.state or 'dead'
    for _, turns in pairs(state.unended_turns(server_state)) do
      for _, turn in ipairs(turns) do
        data.turns = data.turns + 1
        data.began = math.min(data.began or turn.began, turn.began)
      end
    end
    data.activity = server_state.activity ~= '' and server_state.activity or data.activity
  end
end

---@param data tark.Status
local function add_session(data)
  local client = clients.for_buffer()
  local server_state = client and state.of_client(client.id)
  if not server_state then
    return
  end
  local _, transcript = state.current_session(server_state)
  local used = state.used_settings(server_state)
  data.model, data.mode, data.agent = used.model, used.mode, used.agent
  for _, turn in ipairs(transcript.turns) do
    local usage = turn.usage
    if usage then
      data.usage = usage
      data.costUsd = usage.costUsd and (data.costUsd or 0) + usage.costUsd or data.costUsd
      data.contextUsed, data.contextWindow = usage.contextUsed, usage.contextWindow
    end
  end
end

---@return tark.Status not to be changed
function M.data()
  if not cached then
    cached = { state = 'idle', turns = 0, waiting = 0, hunks = 0, activity = '' }
    add_counts(cached)
    add_session(cached)
    if cached.waiting > 0 then
      cached.state = 'waiting'
    elseif cached.turns > 0 then
      cached.state = 'working'
    end
  end
  return cached
end

---@param data tark.Status
---@return string
local function activity_text(data)
  local now = vim.uv.now()
  local frame = FRAMES[math.floor(now / REDRAW_MS) % #FRAMES + 1]
  local activity = vim.fn.strcharpart(visible.line(data.activity), 0, LONGEST_ACTIVITY)
  return vim.trim(('%s %ds %s'):format(frame, (now - data.began) / 1000, visible.statusline(activity)))
end

---@return string short; '' if there is nothing to say
function M.line()
  requested = true
  local data = M.data()
  local parts = {}
  if data.state == 'waiting' then
    table.insert(parts, ('? %d waiting'):format(data.waiting))
  elseif data.state == 'working' then
    table.insert(parts, activity_text(data))
  end
  if data.hunks > 0 then
    table.insert(parts, ('%d hunk%s'):format(data.hunks, data.hunks == 1 and '' or 's'))
  end
  if #parts > 0 then
    return 'tark ' .. table.concat(parts, ', ')
  end
  return data.state == 'dead' and 'tark: no server' or ''
end

---Redraws at most every REDRAW_MS, only while a statusline shows it, and not over a command line that the user types.
local function schedule_redraw()
  if redraw_scheduled or not requested then
    return
  end
  redraw_scheduled = true
  vim.defer_fn(function()
    redraw_scheduled = false
    local blocked = vim.api.nvim_get_mode().mode:match('^[cr]')
    if not blocked then
      requested = false
      pcall(vim.cmd.redrawstatus, { bang = true })
    end
    if blocked or M.data().state == 'working' then
      schedule_redraw()
    end
  end, REDRAW_MS)
end

local function state_changed()
  cached = nil
  schedule_redraw()
end

for _, event in ipairs({ 'hunks', 'permission', 'input', 'session', 'server', 'progress' }) do
  state.on(event, state_changed)
end
state.on('update', function(_, _, change)
  if change and (change.kind == 'turn' or change.kind == 'usage') then
    state_changed()
  end
end)
vim.api.nvim_create_autocmd('BufEnter', {
  group = vim.api.nvim_create_augroup('tark_status', {}),
  callback = function()
    cached = nil -- the buffer can have another server
  end,
})

return M
