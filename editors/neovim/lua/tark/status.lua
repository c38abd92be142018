---How things stand, for statuslines: asked for at each redraw, so it is kept until something changes.
local state = require('tark.state')

local M = {}

local FRAMES = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' }
local REDRAW_MS = 120
local LONGEST_ACTIVITY = 40

---@class tark.Status
---@field state 'idle'|'working'|'waiting'|'dead' waiting: for you; dead: the server ended by itself
---@field turns integer running and queued
---@field waiting integer permissions and questions
---@field hunks integer that are to be decided
---@field activity string what the turn does now, '' if nothing runs
---@field began? integer when the oldest turn began, of vim.uv.now()
---@field model? string of the current session
---@field mode? string likewise
---@field usage? table what its last turn said (docs/protocol.md, `usage`)
---@field costUsd? number of its turns that are known here
---@field contextUsed? integer tokens
---@field contextWindow? integer tokens

local kept ---@type tark.Status?
local asked_for = false -- since the last redraw: is there a statusline that shows it?
local redrawing = false

---@param data tark.Status
local function add_counts(data)
  for _, known in ipairs(state.all()) do
    data.waiting = data.waiting + #known.permissions + #known.inputs
    for _, document in pairs(known.hunks) do
      data.hunks = data.hunks + #document.hunks
    end
    data.state = known.alive and data.state or 'dead'
    for _, turns in pairs(state.unended(known)) do
      for _, turn in ipairs(turns) do
        data.turns = data.turns + 1
        data.began = math.min(data.began or turn.began, turn.began)
      end
    end
    data.activity = known.activity ~= '' and known.activity or data.activity
  end
end

---@param data tark.Status
local function add_session(data)
  local client = require('tark.server').client()
  local known = client and state.of(client.id)
  if not known then
    return
  end
  local session, transcript = state.current(known)
  data.model, data.mode = session.model or known.settings.model, session.mode or known.settings.mode
  for _, turn in ipairs(transcript.turns) do
    local usage = turn.usage
    if usage then
      data.usage = usage
      data.costUsd = usage.costUsd and (data.costUsd or 0) + usage.costUsd or data.costUsd
      data.contextUsed, data.contextWindow = usage.contextUsed, usage.contextWindow
    end
  end
end

---@return tark.Status read it, do not change it
function M.data()
  if not kept then
    kept = { state = 'idle', turns = 0, waiting = 0, hunks = 0, activity = '' }
    add_counts(kept)
    add_session(kept)
    if kept.waiting > 0 then
      kept.state = 'waiting'
    elseif kept.turns > 0 then
      kept.state = 'working'
    end
  end
  return kept
end

---A word in a line that is read as a 'statusline', where % and line ends mean something.
---@param text string
local function plain(text)
  return vim.fn.strcharpart(text:gsub('[%c%%]', ' '), 0, LONGEST_ACTIVITY)
end

---@return string short, and '' when there is nothing to say
function M.line()
  asked_for = true
  local data = M.data()
  if data.state == 'waiting' then
    return ('tark ? %d waiting'):format(data.waiting)
  elseif data.state == 'working' then
    local now = vim.uv.now()
    local frame = FRAMES[math.floor(now / REDRAW_MS) % #FRAMES + 1]
    return vim.trim(('tark %s %ds %s'):format(frame, (now - data.began) / 1000, plain(data.activity)))
  elseif data.hunks > 0 then
    return ('tark %d hunk%s'):format(data.hunks, data.hunks == 1 and '' or 's')
  end
  return data.state == 'dead' and 'tark: no server' or ''
end

---At most every REDRAW_MS, and only while a statusline asks for it; not over what is being typed below it.
local function redraw()
  if redrawing or not asked_for then
    return
  end
  redrawing = true
  vim.defer_fn(function()
    redrawing = false
    local blocked = vim.api.nvim_get_mode().mode:match('^[cr]')
    if not blocked then
      asked_for = false
      pcall(vim.cmd.redrawstatus, { bang = true })
    end
    if blocked or M.data().state == 'working' then
      redraw()
    end
  end, REDRAW_MS)
end

local function changed()
  kept = nil
  redraw()
end

for _, event in ipairs({ 'hunks', 'permission', 'input', 'session', 'server', 'progress' }) do
  state.on(event, changed)
end
state.on('update', function(_, _, change)
  if change and (change.kind == 'turn' or change.kind == 'usage') then
    changed()
  end
end)
vim.api.nvim_create_autocmd('BufEnter', {
  group = vim.api.nvim_create_augroup('tark_status', {}),
  callback = function()
    kept = nil -- another buffer may be another server's
  end,
})

return M
