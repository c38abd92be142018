---Decides which waiting request is shown, and how: in full, as one line, or not at all. Brings the user to the float
---and back.
local autocmds = require('tark.waiting.autocmds')
local card = require('tark.waiting.card')
local keys = require('tark.waiting.keys')
local notify = require('tark.notify')
local state = require('tark.state')
local waiting = require('tark.state.waiting')
local window = require('tark.waiting.window')

local M = {}

local RETRY_MS, MOST_RETRIES = 200, 25
local LINGER_MS = 1000 -- after an answer

local seen_versions = {} ---@type table<string, boolean> of the requests that waited at the last call of `show`
local left, dismissed = false, false -- the user left it waiting; closed it
local previous_window ---@type integer? from which the user came
local is_retrying, retries = false, 0
local is_lingering = false -- the user answered in the float, which stays for the next question

---@return boolean went
local function go_back()
  if not previous_window or not vim.api.nvim_win_is_valid(previous_window) then
    return false
  end
  vim.api.nvim_set_current_win(previous_window)
  return true
end

local function close()
  if window.focused() then
    go_back()
  end
  left, dismissed, previous_window, is_lingering = false, false, nil, false
  autocmds.stop()
  card.close()
end

---Calls `fn`. Neovim refuses windows at times (a completion function runs, the command-line window is open). Then tries
---again later.
---@param fn function
local function try(fn, ...)
  local ok, problem = pcall(fn, ...)
  retries = ok and 0 or retries + 1
  if not ok then
    require('vim.lsp.log').warn('tark', problem)
    if retries == MOST_RETRIES then
      notify.warn('what waits for you cannot be shown: ' .. tostring(problem))
    elseif retries < MOST_RETRIES and not is_retrying then
      is_retrying = true
      vim.defer_fn(function()
        is_retrying = false
        M.show()
      end, RETRY_MS)
    end
  end
end

---@param current tark.WaitingRequest
---@param folded boolean as one line
local function open(current, folded)
  local id = card.open(current, folded)
  if id then
    autocmds.start(id, M)
  end
  dismissed, is_lingering = false, false
end

---Keeps the float open for a moment after an answer, because questions of one turn come one after another. No key
---decides anything in that moment.
local function linger()
  if is_lingering then
    return
  end
  is_lingering = true
  card.show_answered()
  vim.defer_fn(function()
    if is_lingering then
      try(close)
    end
  end, LINGER_MS)
end

---Shows the right request: the shown request while it waits, a new one if the shown one was folded or closed, else the
---oldest.
function M.show()
  local all, fresh, versions = waiting.all(), nil, {}
  for _, entry in ipairs(all) do
    local version = waiting.version(entry)
    fresh = fresh or (not seen_versions[version] and entry or nil)
    versions[version] = true
  end
  seen_versions = versions
  if #all == 0 then
    return try(window.focused() and card.turn_runs() and linger or close)
  end
  local current = card.current()
  if fresh and (left or dismissed or not current) then
    current, left, dismissed = fresh, false, false
  end
  if not dismissed then
    current = current or all[1]
    try(open, current, not window.focused() and (left or card.view(current).is_one_line == true))
  end
end

---Moves the user to the float, from any mode.
---@param request_id? string nil: the one that is shown
function M.focus(request_id)
  local current = request_id and waiting.find_request(request_id) or card.current() or waiting.all()[1]
  if not current then
    return notify.info('nothing waits for you')
  end
  left = false
  if not window.focused() then
    previous_window = vim.api.nvim_get_current_win()
  end
  open(current, false)
  if vim.fn.mode():find('^[vV\22sS\19]') then
    vim.cmd.normal({ '\27', bang = true }) -- else the selection would continue there
  end
  vim.api.nvim_set_current_win(window.id() --[[@as integer]])
  if card.view(current).entered then
    card.view(current).entered(current)
  end
end

---Called when a window was entered. The float can be entered by `focus`, by window keys or by the mouse.
function M.entered()
  local current = card.current()
  if window.focused() and current then
    if vim.fn.mode():find('^[iRt]') then
      vim.cmd.stopinsert()
    end
    keys.disable_briefly()
    left = false
    open(current, false)
  end
  window.reposition()
  card.update_border()
end

---Called when the cursor moved, the text changed, or a window was scrolled.
function M.moved()
  if not window.focused() then
    window.reposition()
  end
  if window.focused() or window.line_width() then
    card.update_border()
  end
end

M.resized = card.resized

---Called when the user closed the float. It opens again with the next request, or when the user goes to it.
function M.closed()
  dismissed = true
end

---Called when a tab page was closed, perhaps with the float. The user did not necessarily want to close the float.
function M.show_again()
  dismissed = false
  M.show()
end

---Leaves the request waiting, as one line.
function M.fold()
  if is_lingering then
    return close()
  end
  left = true
  if window.focused() and not go_back() then
    vim.cmd.wincmd('p')
  end
  M.show()
end

---@param step integer
local function show_other(step)
  local position, all = card.position()
  open(all[(position - 1 + step) % #all + 1], false)
end

card.set_navigation({
  show = M.show,
  fold = M.fold,
  next = function()
    show_other(1)
  end,
  previous = function()
    show_other(-1)
  end,
})

for _, event in ipairs({ 'permission', 'input', 'hunks', 'server' }) do
  state.on(event, M.show)
end
state.on('update', function()
  if is_lingering then
    M.show() -- its turn can have ended
  end
end)

return M
