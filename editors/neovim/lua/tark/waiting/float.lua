---Which of all that waits is shown, whole, as one line or not at all; and how the person goes there and back.
local card = require('tark.waiting.card')
local keys = require('tark.waiting.keys')
local state = require('tark.state')
local waiting = require('tark.waiting')
local window = require('tark.waiting.window')

local M = {}

local RETRY_MS, MOST_RETRIES = 200, 25
local LINGER_MS = 1000 -- after an answer

local known = {} ---@type table<string, boolean> versions of what waited when it was last looked at
local folded, put_away = false, false -- one line; closed by the person
local back ---@type integer? window the person came from
local retrying, retries = false, 0
local lingering = false -- the person answered from here, and stays for the next question

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
  folded, put_away, back, lingering = false, false, nil, false
  card.close()
end

---Neovim refuses windows at times (a completion function runs, the command-line window is open): a little later then.
---@param fn function
local function try(fn, ...)
  local ok, problem = pcall(fn, ...)
  retries = ok and 0 or retries + 1
  if not ok then
    require('vim.lsp.log').warn('tark', problem)
    if retries == MOST_RETRIES then
      require('tark.notify').warn('what waits for you cannot be shown: ' .. tostring(problem))
    elseif retries < MOST_RETRIES and not retrying then
      retrying = true
      vim.defer_fn(function()
        retrying = false
        M.show()
      end, RETRY_MS)
    end
  end
end

---@param current tark.Waiting
local function open(current)
  card.open(current, folded)
  put_away, lingering = false, false
end

---Questions of one turn come one after another: who answers them stays for a moment, in which no key does anything.
local function linger()
  if lingering then
    return
  end
  lingering = true
  card.answered()
  vim.defer_fn(function()
    if lingering then
      try(close)
    end
  end, LINGER_MS)
end

---What is asked is to be seen beside it, so that one line is enough until the person comes.
---@param each tark.Waiting
---@return boolean
local function is_drawn(each)
  local fn = card.view(each).is_drawn
  return fn ~= nil and fn(each.request)
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
    return try(window.focused() and card.turn_runs() and linger or close)
  end
  local current = card.current()
  if fresh and (folded or put_away or not current) then
    current, folded, put_away = fresh, not window.focused() and is_drawn(fresh), false
  end
  if not put_away then
    try(open, current or all[1])
  end
end

---The person goes there, from whatever mode they are in.
---@param request_id? string nil: the one that is shown
function M.go(request_id)
  local current = request_id and waiting.find(request_id) or card.current() or waiting.all()[1]
  if not current then
    return require('tark.notify').say('nothing waits for you')
  end
  folded = false
  if not window.focused() then
    back = vim.api.nvim_get_current_win()
  end
  open(current)
  if vim.fn.mode():find('^[vV\22sS\19]') then
    vim.cmd.normal({ '\27', bang = true }) -- a selection would come along
  end
  vim.api.nvim_set_current_win(window.id() --[[@as integer]])
  if card.view(current).entered then
    card.view(current).entered(current)
  end
end

---A window was entered. This one: by `go`, by keys for windows or by the mouse.
function M.entered()
  local current = card.current()
  if window.focused() and current then
    if vim.fn.mode():find('^[iRt]') then
      vim.cmd.stopinsert()
    end
    keys.die_for_a_moment()
    folded = false
    open(current)
  end
  window.keep_clear()
  card.dress()
end

---The cursor moved, or a window was scrolled.
function M.moved()
  if window.focused() then
    card.dress()
  else
    window.keep_clear()
  end
end

M.resized = card.resized

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
  if lingering then
    return close()
  end
  folded = true
  if window.focused() and not go_back() then
    vim.cmd.wincmd('p')
  end
  M.show()
end

---@param step integer
local function turn_to(step)
  local place, all = card.place()
  open(all[(place - 1 + step) % #all + 1])
end

function M.next()
  turn_to(1)
end

function M.previous()
  turn_to(-1)
end

for _, event in ipairs({ 'permission', 'input', 'hunks', 'server' }) do
  state.on(event, M.show)
end
state.on('update', function()
  if lingering then
    M.show() -- its turn may have ended
  end
end)

return M
