---One thing that waits, as the float shows it: its text, what its border says, and its keys. They answer what is shown,
---never what came in its place meanwhile.
local keys = require('tark.waiting.keys')
local waiting = require('tark.waiting')
local window = require('tark.waiting.window')

local M = {}

---@class tark.WaitingView how one kind is drawn and answered
---@field keys fun(request: table): tark.WaitingKey[]
---@field draw fun(request: table, keys: tark.WaitingKey[]): tark.Lines
---@field title fun(request: table): string one line
---@field stage? fun(request: table): integer it is drawn anew when that changes
---@field entered? fun(waiting: tark.Waiting) the person went there
---@field is_drawn? fun(request: table): boolean all it asks about is to be seen in windows for files
---@field is_written? fun(request: table): boolean the person is writing the answer in a window of its own

---@type table<string, string> modules by kind
local VIEWS = { permissions = 'tark.permission.view', inputs = 'tark.input.view' }

---@class tark.Card
---@field id string of the request
---@field version string of what it says
---@field folded boolean one line
---@field tail integer lines at its end that need not be read
---@field turn { client_id: integer, session_id: string, turn_id: string }
---@field read boolean its end was on the screen, with the focus
---@field buffer integer

local shown ---@type tark.Card?

---@param each tark.Waiting
---@return tark.WaitingView
function M.view(each)
  return require(VIEWS[each.kind])
end

---@return tark.Waiting? what is shown, while it waits
function M.current()
  return shown and waiting.find(shown.id)
end

---@param each tark.Waiting
---@return string
local function version_of(each)
  local stage = M.view(each).stage
  return waiting.version(each) .. (stage and stage(each.request) or '')
end

---@return integer place of what is shown among all that wait
---@return tark.Waiting[] all
function M.place()
  local all, place = waiting.all(), 1
  for index, each in ipairs(all) do
    place = shown and each.request.requestId == shown.id and index or place
  end
  return place, all
end

---@return boolean would a key that decides do so now?
function M.listens()
  return window.focused() and keys.live()
end

---@return boolean does the turn go on that asked last?
function M.turn_runs()
  for _, known in ipairs(shown and require('tark.state').all() or {}) do
    local of = shown.turn
    local turn = known.client_id == of.client_id and vim.tbl_get(known.transcripts, of.session_id, 'byId', of.turn_id)
    if turn and known.alive then
      return turn.state == 'running'
    end
  end
  return false
end

---@param key tark.WaitingKey
local function press(key)
  local current = M.current()
  if key.leaves then
    return key[3]()
  elseif not current or not shown then
    return
  elseif key.decides and not M.listens() then
    return keys.die_for_a_moment() -- it may be held down: a moment without it is needed
  end
  if key.decides and version_of(current) ~= shown.version then
    return require('tark.waiting.float').show() -- it could not be shown yet
  end
  if key.grants and not shown.read then
    return require('tark.notify').say('read it to its end first (G goes there)')
  end
  key[3](current)
end

---@param current tark.Waiting
---@return tark.WaitingKey[] of its kind
---@return tark.WaitingKey[] and those to walk through all that waits
local function keys_of(current)
  local float = require('tark.waiting.float')
  local own = M.view(current).keys(current.request)
  table.insert(own, { 'q', 'leave it waiting', float.fold, short = 'later', leaves = true, also = { '<Esc>' } })
  return own,
    {
      { ']', 'the next that waits', float.next, short = 'next', also = { '<Tab>' } },
      { '[', 'the one before', float.previous, also = { '<S-Tab>' } },
    }
end

---What stands in the border, and whether the end was seen: whenever that may have changed.
function M.dress()
  local current = M.current()
  if not current or not shown or not window.id() then
    return
  end
  local below = shown.folded and 0 or window.below(shown.tail)
  shown.read = shown.read or (window.focused() and below == 0)
  local place, all = M.place()
  local border = require('tark.waiting.border')
  local footer
  if window.focused() then
    local own, walking = keys_of(current)
    footer = border.keys(vim.list_extend(own, #all > 1 and walking or {}))
  elseif M.is_written(current) then
    footer = { { '', 'TarkFaint' } }
  else
    footer = border.to_come(require('tark.keymaps').mapped('permission', 'TarkPermission') --[[@as string]])
  end
  window.dress(border.title(place, #all, below, current.request.byModel), footer)
end

---@param current tark.Waiting
---@return boolean
function M.is_written(current)
  local is_written = M.view(current).is_written
  return is_written ~= nil and is_written(current.request)
end

---@param current tark.Waiting
---@param folded boolean
---@return tark.Lines
local function draw(current, folded)
  if folded then
    local drawn = require('tark.waiting.lines').new()
    drawn:add({ M.view(current).title(current.request), 'TarkWaitingSubject' })
    return drawn
  end
  return M.view(current).draw(current.request, M.is_written(current) and {} or (keys_of(current)))
end

---The screen, or the text, is of another size.
function M.resized()
  window.measure(require('tark.config').get().permission.max_lines)
  window.keep_clear()
  M.dress()
end

---Draw it anew, where a key of its own changed what it says.
function M.redraw()
  local current = M.current()
  if current and shown and vim.api.nvim_buf_is_valid(shown.buffer) then
    local drawn = draw(current, shown.folded)
    drawn:put(shown.buffer)
    shown.tail = drawn.tail
    M.resized()
  end
end

---Nothing waits, but the next question may come at once: what is typed for it is no text for a file.
function M.answered()
  if shown and window.id() then
    local drawn = require('tark.waiting.lines').new()
    drawn:add({ 'answered', 'TarkFaint' })
    drawn:put(shown.buffer)
    shown.version, shown.tail = '', 0
    local border = require('tark.waiting.border')
    window.dress(border.title(1, 1, 0), border.answered())
  end
end

---Raises an error where Neovim does not let us just now.
---@param current tark.Waiting
---@param folded boolean
function M.open(current, folded)
  local version = version_of(current)
  if window.here() and shown and shown.version == version and shown.folded == folded then
    return M.dress()
  end
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].undolevels = -1
  local drawn = draw(current, folded)
  drawn:put(buffer)
  local own, walking = keys_of(current)
  keys.map(buffer, vim.list_extend(own, walking), press)
  local opened, id = pcall(window.open, buffer)
  if not opened then
    vim.api.nvim_buf_delete(buffer, { force = true })
    error(id, 0)
  end
  local request = current.request
  shown = {
    id = request.requestId,
    version = version,
    folded = folded,
    read = false,
    buffer = buffer,
    tail = drawn.tail,
    turn = { client_id = current.client_id, session_id = request.sessionId, turn_id = request.turnId },
  }
  require('tark.waiting.watch').start(id)
  M.resized()
  keys.die_for_a_moment() -- counted from here: a long text takes its time
  if vim.fn.mode() == 'c' then
    vim.cmd.redraw() -- nothing else does while a command line is open
  end
end

function M.close()
  shown = nil
  require('tark.waiting.watch').stop()
  window.close()
end

return M
