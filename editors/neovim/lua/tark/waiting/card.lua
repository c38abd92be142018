---Shows one waiting request in the float: its text, its border and its keys. The keys answer what is shown, even if
---another request has replaced it in the meantime.
local border = require('tark.waiting.border')
local config = require('tark.config')
local keys = require('tark.waiting.keys')
local mapped_keys = require('tark.mapped_keys')
local notify = require('tark.notify')
local state = require('tark.state')
local styled_lines = require('tark.waiting.styled_lines')
local waiting = require('tark.state.waiting')
local window = require('tark.waiting.window')

local M = {}

---@class tark.WaitingView draws and answers requests of one kind
---@field keys fun(request: table): tark.WaitingKey[]
---@field draw fun(request: table, keys: tark.WaitingKey[]): tark.StyledLines
---@field title fun(request: table): string one line
---@field stage? fun(request: table): integer the request is redrawn when this changes
---@field entered? fun(entry: tark.WaitingRequest) the user went to the float
---@field is_one_line? boolean shown as one line, except while the user is in the float
---@field is_written? fun(request: table): boolean does the user write the answer in a separate window?

---@class tark.CardNavigation functions for keys that decide nothing; float.lua sets them
---@field show fun() redraw what should be shown
---@field fold fun()
---@field next fun()
---@field previous fun()

---@class tark.Card
---@field id string of the request
---@field version string of its content
---@field folded boolean one line
---@field tail integer lines at its end that need not be read
---@field turn { client_id: integer, session_id: string, turn_id: string }
---@field read boolean its end was on the screen while the float had the focus
---@field buffer integer

local view_loaders = {} ---@type table<string, fun(): tark.WaitingView> by kind
local navigation ---@type tark.CardNavigation
local shown ---@type tark.Card?

---The views require this module, so it cannot require them. startup.lua registers them.
---@param kind 'permissions'|'inputs'
---@param load fun(): tark.WaitingView
function M.register_view(kind, load)
  view_loaders[kind] = load
end

---@param functions tark.CardNavigation
function M.set_navigation(functions)
  navigation = functions
end

---@param entry tark.WaitingRequest
---@return tark.WaitingView
function M.view(entry)
  return view_loaders[entry.kind]()
end

---@return tark.WaitingRequest? entry that is shown, while it waits
function M.current()
  return shown and waiting.find_request(shown.id)
end

---@param entry tark.WaitingRequest
---@return string
local function version_of(entry)
  local stage = M.view(entry).stage
  return waiting.version(entry) .. (stage and stage(entry.request) or '')
end

---@return integer index of the shown entry among all that wait
---@return tark.WaitingRequest[] all
function M.position()
  local all, position = waiting.all(), 1
  for index, entry in ipairs(all) do
    position = shown and entry.request.requestId == shown.id and index or position
  end
  return position, all
end

---@return boolean would a key that decides do so now?
function M.accepts_keys()
  return window.focused() and keys.are_enabled()
end

---@return boolean is the turn whose request was shown last still running?
function M.turn_runs()
  for _, server_state in ipairs(shown and state.all() or {}) do
    local origin = shown.turn
    local turn = server_state.client_id == origin.client_id
      and vim.tbl_get(server_state.transcripts, origin.session_id, 'byId', origin.turn_id)
    if turn and server_state.alive then
      return turn.state == 'running'
    end
  end
  return false
end

---@param key tark.WaitingKey
local function key_pressed(key)
  local current = M.current()
  if key.leaves then
    return key[3]()
  elseif not current or not shown then
    return
  elseif key.decides and not M.accepts_keys() then
    return keys.disable_briefly() -- the key could be held down: it must be released for a moment
  end
  if key.decides and version_of(current) ~= shown.version then
    return navigation.show() -- the new version could not be shown yet
  end
  if key.grants and not shown.read then
    return notify.info('read it to its end first (G goes there)')
  end
  key[3](current)
end

---@param current tark.WaitingRequest
---@return tark.WaitingKey[] keys of its kind
---@return tark.WaitingKey[] keys that go to other requests
local function keys_of(current)
  local own = M.view(current).keys(current.request)
  table.insert(own, { 'q', 'leave it waiting', navigation.fold, short = 'later', leaves = true, also = { '<Esc>' } })
  return own,
    {
      { ']', 'the next that waits', navigation.next, short = 'next', also = { '<Tab>' } },
      { '[', 'the previous one', navigation.previous, also = { '<S-Tab>' } },
    }
end

---@param current tark.WaitingRequest
---@return boolean
function M.is_written(current)
  local is_written = M.view(current).is_written
  return is_written ~= nil and is_written(current.request)
end

---@return string key that brings the user to the float
local function answer_key()
  return mapped_keys.find_key('permission', 'TarkPermission') --[[@as string]]
end

---@param current tark.WaitingRequest
---@param folded boolean
---@return tark.StyledLines
local function draw(current, folded)
  if folded then
    local position, all = M.position()
    local width, title = window.line_width() or vim.o.columns, M.view(current).title(current.request)
    return border.line(title, position, #all, answer_key(), width, current.request.byModel)
  end
  return M.view(current).draw(current.request, M.is_written(current) and {} or (keys_of(current)))
end

---Updates the border, and whether the end was seen. Call this whenever one of them could have changed.
function M.update_border()
  local current = M.current()
  if not current or not shown or not window.id() then
    return
  elseif shown.folded then
    return draw(current, true):write_to(shown.buffer)
  end
  local below = window.lines_below(shown.tail)
  shown.read = shown.read or (window.focused() and below == 0)
  local position, all = M.position()
  local footer
  if window.focused() then
    local own, others = keys_of(current)
    footer = border.keys(vim.list_extend(own, #all > 1 and others or {}))
  elseif M.is_written(current) then
    footer = { { '', 'TarkFaint' } }
  else
    footer = border.how_to_answer(answer_key())
  end
  window.set_border_text(border.title(position, #all, below, current.request.byModel), footer)
end

---Called when the size of the screen or the text has changed.
function M.resized()
  window.measure(config.get().permission.max_lines)
  window.reposition()
  M.update_border()
end

---Redraws the request after one of its own keys has changed its text.
function M.redraw()
  local current = M.current()
  if current and shown and vim.api.nvim_buf_is_valid(shown.buffer) then
    local drawn = draw(current, shown.folded)
    drawn:write_to(shown.buffer)
    shown.tail = drawn.tail
    M.resized()
  end
end

---Shows an answered card: nothing waits, but the next question can come at once, and keys that are typed for it must
---not get into a file.
function M.show_answered()
  if shown and window.id() then
    local drawn = styled_lines.new()
    drawn:add({ 'answered', 'TarkFaint' })
    drawn:write_to(shown.buffer)
    shown.version, shown.tail = '', 0
    window.set_border_text(border.title(1, 1, 0), border.answered())
  end
end

---@param current tark.WaitingRequest
---@param folded boolean
---@return integer buffer
---@return tark.StyledLines
local function create_buffer(current, folded)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].undolevels = -1
  local drawn = draw(current, folded)
  drawn:write_to(buffer)
  local own, others = keys_of(current)
  keys.map(buffer, vim.list_extend(own, others), key_pressed)
  return buffer, drawn
end

---Raises an error if Neovim allows no window at the moment.
---@param current tark.WaitingRequest
---@param folded boolean
---@return integer? window nil: this was shown already
function M.open(current, folded)
  local version = version_of(current)
  if window.is_here() and shown and shown.version == version and shown.folded == folded then
    window.reposition()
    M.update_border()
    return nil
  end
  local buffer, drawn = create_buffer(current, folded)
  local opened, id = pcall(window.open, buffer, folded)
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
  M.resized()
  keys.disable_briefly() -- last, since drawing a long text takes its time
  if vim.fn.mode() == 'c' then
    vim.cmd.redraw() -- while a command line is open, nothing else draws
  end
  return id
end

function M.close()
  shown = nil
  window.close()
end

return M
