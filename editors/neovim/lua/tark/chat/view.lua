---When the transcript is drawn: at most every 30 ms, only what changed, and nothing while no window shows it.
---Who reads above stays where they are; who is at the end follows it.
local new_drawing = require('tark.chat.drawing')

local M = {}

local EVERY_MS = 30
local MOST_MS = 200 -- and at least so often, however slow the machine is
local SHARE = 4 -- of the time at most a fourth is for drawing, with what Neovim makes of it: the rest is for keys

local drawing ---@type tark.Drawing?
local transcript ---@type tark.Transcript?
local outbox = {} ---@type tark.Turn[] what was sent and is in no transcript yet
local stale = {} ---@type table<tark.Turn, true|table<tark.Block, true>> to be drawn anew: turns, or blocks of them
local all_stale = true
local is_other = false -- another session than what was drawn last
local toggled = {} ---@type table<string, boolean> pieces that the person opened or closed, by key
local all_opened = false
local timer ---@type uv.uv_timer_t?
local drawn_at, spent_then = 0, 0 -- in ms: when it was drawn last, and what Neovim had computed until then

---@param key string
local function is_opened(key)
  if toggled[key] ~= nil then
    return toggled[key]
  end
  return all_opened
end

---@return integer[]
function M.windows()
  return drawing and vim.api.nvim_buf_is_loaded(drawing.bufnr) and vim.fn.win_findbuf(drawing.bufnr) or {}
end

---What Neovim has computed since it started, in ms.
local function spent()
  local usage = assert(vim.uv.getrusage())
  return (usage.utime.sec + usage.stime.sec) * 1000 + (usage.utime.usec + usage.stime.usec) / 1000
end

---As much of it as has room above its end.
---@param window integer
---@param last integer line
local function show_end(window, last)
  vim.api.nvim_win_set_cursor(window, { last, 0 })
  vim.api.nvim_win_call(window, function()
    vim.cmd('normal! zb')
  end)
end

local function write()
  local turns = vim.list_extend(vim.list_slice(transcript and transcript.turns or {}), outbox)
  if all_stale or not drawing:draw_stale(turns, is_opened, stale) then
    local header = transcript and transcript.earlier and '… earlier messages (<CR>)' or 'g? shows the keys'
    drawing:draw_all({ header }, turns, is_opened)
  end
end

---Now; for a window that has just been opened.
function M.draw()
  local windows = M.windows()
  if #windows == 0 or not drawing then
    return
  end
  drawn_at, spent_then = vim.uv.now(), spent()
  local bufnr = drawing.bufnr
  local last = vim.api.nvim_buf_line_count(bufnr)
  local following = vim.tbl_filter(function(window)
    return is_other or vim.api.nvim_win_get_cursor(window)[1] == last
  end, windows)
  vim.bo[bufnr].modifiable = true
  local ok, problem = xpcall(write, debug.traceback)
  vim.bo[bufnr].modifiable = false
  stale, all_stale = {}, not ok
  if not ok then
    require('tark.notify').bug(problem)
  end
  last = vim.api.nvim_buf_line_count(bufnr)
  for _, window in ipairs(following) do
    if is_other then
      show_end(window, last)
    else
      vim.api.nvim_win_set_cursor(window, { last, 0 })
    end
  end
  is_other = false
end

---@param ms integer
local function draw_in(ms)
  timer = vim.defer_fn(function()
    local waited = vim.uv.now() - drawn_at
    local due = math.min((spent() - spent_then) * SHARE, MOST_MS)
    if waited < due then
      return draw_in(math.ceil(due - waited))
    end
    timer = nil
    M.draw()
  end, ms)
end

---Something is to be drawn anew: which turns there are, a turn, or a block of it.
---@param turn? tark.Turn
---@param block? tark.Block
function M.touch(turn, block)
  if turn and block and stale[turn] ~= true then
    stale[turn] = stale[turn] or {}
    stale[turn][block] = true
  elseif turn then
    stale[turn] = true
  end
  if not timer and #M.windows() > 0 then
    draw_in(EVERY_MS)
  end
end

---What is to be shown from now on.
---@param bufnr integer
---@param shown? tark.Transcript
---@param sent tark.Turn[] it may change: then `touch` is to be called
function M.show(bufnr, shown, sent)
  if not drawing or bufnr ~= drawing.bufnr then
    drawing = new_drawing(bufnr)
    all_stale = true
  end
  all_stale = all_stale or shown ~= transcript
  if (shown and shown.sessionId) ~= (transcript and transcript.sessionId) then
    toggled, all_opened, is_other = {}, false, true
  end
  transcript, outbox = shown, sent
end

---The end of it comes into view, and is followed from now on.
function M.to_end()
  for _, window in ipairs(M.windows()) do
    show_end(window, vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(window)))
  end
end

---@param line integer from 1
---@return tark.Piece?
function M.piece_at(line)
  local found ---@type tark.Piece?
  for _, piece, row in (drawing or new_drawing(0)):pieces() do
    if row >= line then
      break
    end
    found = piece
  end
  return found
end

---@param line integer from 1
---@return boolean
function M.is_header(line)
  return drawing ~= nil and drawing:is_header(line)
end

---@param line integer from 1
---@param opened? boolean nil: the other way round
function M.toggle(line, opened)
  local piece = M.piece_at(line)
  if not piece or not piece.folds then
    return
  end
  if opened == nil then
    opened = not is_opened(piece.key)
  end
  toggled[piece.key] = opened
  M.touch(piece.turn)
end

---@param opened boolean
function M.toggle_all(opened)
  toggled, all_opened, all_stale = {}, opened, true
  M.touch()
end

---Lines where turns begin, from 1.
---@return integer[]
function M.turn_lines()
  local lines, last = {}, 0
  for turn, _, row in (drawing or new_drawing(0)):pieces() do
    if turn ~= last then
      table.insert(lines, row + 2) -- behind the blank line
      last = turn
    end
  end
  return lines
end

return M
