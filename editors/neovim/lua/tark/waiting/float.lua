---What waits for the person, shown without the focus until they go to it, and then answered by its keys.
local keys = require('tark.waiting.keys')
local state = require('tark.state')
local waiting = require('tark.waiting')
local window = require('tark.waiting.window')

local M = {}

local RETRY_MS = 200
local MARKS = vim.api.nvim_create_namespace('tark_waiting')

---@class tark.WaitingView how one kind is drawn and answered
---@field keys fun(request: table): tark.WaitingKey[]
---@field draw fun(request: table, keys: tark.WaitingKey[]): tark.Lines
---@field title fun(request: table): string one line
---@field entered? fun(waiting: tark.Waiting) the person went there

---@type table<string, string> modules by kind
local VIEWS = { permissions = 'tark.permission.view', inputs = 'tark.input.view' }

local shown ---@type { id: string, version: string, folded: boolean, read: boolean, buffer: integer }?
local known = {} ---@type table<string, boolean> versions of what waited when it was last looked at
local folded, put_away = false, false -- one line; closed by the person
local back ---@type integer? window the person came from
local retrying = false

---@param each tark.Waiting
---@return tark.WaitingView
local function view(each)
  return require(VIEWS[each.kind])
end

---@return tark.Waiting? what is shown, while it waits
function M.current()
  return shown and waiting.find(shown.id)
end

---@return boolean would a key that decides do so now?
function M.listens()
  return window.focused() and keys.live()
end

---@param current tark.Waiting
---@return tark.WaitingKey[]
local function keys_of(current)
  local all = view(current).keys(current.request)
  if #waiting.all() > 1 then
    table.insert(all, { ']', 'the next that waits', M.next, short = 'next', also = { '<Tab>' } })
    table.insert(all, { '[', 'the one before', M.previous, also = { '<S-Tab>' } })
  end
  table.insert(all, { 'q', 'leave it waiting', M.fold, short = 'later', also = { '<Esc>' } })
  return all
end

---@param key tark.WaitingKey
local function press(key)
  local current = M.current()
  if not current or not shown or (key.decides and not M.listens()) then
    return
  end
  if key.grants and not shown.read then
    return require('tark.notify').say('read it to its end first (G goes there)')
  end
  key[3](current)
end

---What stands in the border; and whether the end was seen.
local function dress()
  local current = M.current()
  if not current or not shown or not window.id() then
    return
  end
  local below = shown.folded and 0 or window.below()
  shown.read = shown.read or (window.focused() and below == 0)
  local all, place = waiting.all(), 1
  for index, each in ipairs(all) do
    place = each.request.requestId == shown.id and index or place
  end
  local title = { { ' Tark asks ', 'TarkFloatTitle' } }
  if #all > 1 then
    table.insert(title, { ('· %d of %d '):format(place, #all), 'TarkFloatTitle' })
  end
  if below > 0 then
    table.insert(title, { ('· %d more %s below '):format(below, below == 1 and 'line' or 'lines'), 'TarkRiskRisky' })
  end
  local to_come = { { (' %s to answer '):format(require('tark.waiting.hint').get()), 'TarkFaint' } }
  window.dress(title, window.focused() and keys.short(keys_of(current)) or to_come)
end

---@param current tark.Waiting
---@return tark.Lines
local function draw(current)
  if folded then
    local drawn = require('tark.waiting.lines').new()
    drawn:add({ view(current).title(current.request), 'TarkWaitingSubject' })
    return drawn
  end
  return view(current).draw(current.request, keys_of(current))
end

---@param buffer integer
---@param drawn tark.Lines
local function fill(buffer, drawn)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, drawn.lines)
  vim.bo[buffer].modifiable = false
  vim.api.nvim_buf_clear_namespace(buffer, MARKS, 0, -1)
  for _, mark in ipairs(drawn.marks) do
    vim.api.nvim_buf_set_extmark(buffer, MARKS, mark.row, mark.from, { end_col = mark.to, hl_group = mark.group })
  end
end

---The screen, or the text, is of another size.
function M.resized()
  window.measure(require('tark.config').get().permission.max_lines)
  window.keep_clear()
  dress()
end

---Draw it anew, where a key of its own changed what it says.
function M.redraw()
  local current = M.current()
  if current and shown and vim.api.nvim_buf_is_valid(shown.buffer) then
    fill(shown.buffer, draw(current))
    M.resized()
  end
end

---@param current tark.Waiting
local function open(current)
  local version = waiting.version(current)
  if window.here() and shown and shown.version == version and shown.folded == folded then
    return dress()
  end
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].undolevels = -1
  fill(buffer, draw(current))
  keys.map(buffer, keys_of(current), press)
  keys.die_for_a_moment()
  shown = { id = current.request.requestId, version = version, folded = folded, read = false, buffer = buffer }
  require('tark.waiting.watch').start(window.open(buffer))
  put_away = false
  M.resized()
  if vim.fn.mode() == 'c' then
    vim.cmd.redraw() -- nothing else does while a command line is open
  end
end

---@return boolean went
local function go_back()
  if not back or not vim.api.nvim_win_is_valid(back) then
    return false
  end
  vim.api.nvim_set_current_win(back)
  return true
end

local function close()
  if window.focused() then
    go_back()
  end
  shown, folded, put_away, back = nil, false, false, nil
  require('tark.waiting.watch').stop()
  window.close()
end

---Neovim refuses windows at times (a completion function runs, the command-line window is open): a little later then.
---@param fn function
local function try(fn, ...)
  local ok, problem = pcall(fn, ...)
  if not ok then
    require('vim.lsp.log').warn('tark', problem)
    if not retrying then
      retrying = true
      vim.defer_fn(function()
        retrying = false
        M.show()
      end, RETRY_MS)
    end
  end
end

---Show what is due: the one that is there while it waits, what is new where that was put aside, else the oldest.
function M.show()
  local all, fresh, versions = waiting.all(), nil, {}
  for _, each in ipairs(all) do
    local version = waiting.version(each)
    fresh = fresh or (not known[version] and each or nil)
    versions[version] = true
  end
  known = versions
  if #all == 0 then
    return try(close)
  end
  local current = M.current()
  if fresh and (folded or put_away or not current) then
    current, folded, put_away = fresh, false, false
  end
  if not put_away then
    try(open, current or all[1])
  end
end

---The person goes there, from whatever mode they are in.
---@param request_id? string nil: the one that is shown
function M.go(request_id)
  local current = request_id and waiting.find(request_id) or M.current() or waiting.all()[1]
  if not current then
    return require('tark.notify').say('nothing waits for you')
  end
  folded, put_away = false, false
  if not window.focused() then
    back = vim.api.nvim_get_current_win()
  end
  open(current)
  vim.api.nvim_set_current_win(window.id() --[[@as integer]])
  if view(current).entered then
    view(current).entered(current)
  end
end

---A window was entered. This one: by `go`, by keys for windows or by the mouse.
function M.entered()
  local current = M.current()
  if window.focused() and current then
    if vim.fn.mode():find('^[iRt]') then
      vim.cmd.stopinsert()
    end
    keys.die_for_a_moment()
    folded = false
    open(current)
  end
  window.keep_clear()
  dress()
end

---The cursor moved, or a window was scrolled.
function M.moved()
  if window.focused() then
    dress()
  else
    window.keep_clear()
  end
end

---It was closed, and not by us: it comes again with the next one that waits, or when the person goes there.
function M.closed()
  put_away = true
end

---A tab was closed, which may have been that of the float: not what the person wanted to close.
function M.show_again()
  put_away = false
  M.show()
end

---Leave it waiting, as one line.
function M.fold()
  folded = true
  if window.focused() and not go_back() then
    vim.cmd.wincmd('p')
  end
  M.show()
end

---@param step integer
local function turn_to(step)
  local all, place = waiting.all(), 1
  for index, each in ipairs(all) do
    place = shown and each.request.requestId == shown.id and index or place
  end
  open(all[(place - 1 + step) % #all + 1])
end

function M.next()
  turn_to(1)
end

function M.previous()
  turn_to(-1)
end

for _, event in ipairs({ 'permission', 'input', 'server' }) do
  state.on(event, M.show)
end

return M
