---Decides when the transcript is drawn: at most every 30 ms, only what changed, and nothing while no window shows it.
---A window at the end of the transcript follows it. A window that is scrolled up does not move.
local new_drawing = require('tark.chat.drawing')
local notify = require('tark.notify')

local M = {}

local EVERY_MS = 30
local MOST_MS = 200 -- and at least so often, even on a slow machine
local SHARE = 4 -- drawing takes at most a quarter of the time, including Neovim's work for it; the rest is for keys

local drawing ---@type tark.Drawing?
local transcript ---@type tark.Transcript?
local sending = {} ---@type tark.Turn[] sent turns that are not in a transcript yet
local stale = {} ---@type table<tark.Turn, true|table<tark.Block, true>> to be drawn: turns, or some blocks
local all_stale = true
local is_other = false -- another session than the one that was drawn last
local toggled = {} ---@type table<string, boolean> pieces that the user opened or closed, by key
local all_opened = false
local timer ---@type uv.uv_timer_t?
local drawn_at, cpu_then = 0, 0 -- in ms: the time of the last drawing, and the CPU time that Neovim had used until then

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

---CPU time that Neovim has used since it started, in ms.
local function cpu_time()
  local usage = assert(vim.uv.getrusage())
  return (usage.utime.sec + usage.stime.sec) * 1000 + (usage.utime.usec + usage.stime.usec) / 1000
end

---Scrolls so that the last line is at the bottom of the window.
---@param window integer
---@param last integer line
local function show_end(window, last)
  vim.api.nvim_win_set_cursor(window, { last, 0 })
  vim.api.nvim_win_call(window, function()
    vim.cmd('normal! zb')
  end)
end

local function write()
  local turns = vim.list_extend(vim.list_slice(transcript and transcript.turns or {}), sending)
  if all_stale or not drawing:draw_stale(turns, is_opened, stale) then
    local header = transcript and transcript.earlier and '… earlier messages (<CR>)' or 'g? shows the keys'
    drawing:draw_all({ header }, turns, is_opened)
  end
end

---Draws at once, also in a window that has just been opened.
function M.draw()
  local windows = M.windows()
  if #windows == 0 or not drawing then
    return
  end
  drawn_at, cpu_then = vim.uv.now(), cpu_time()
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
    notify.internal_error(problem)
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
    local due = math.min((cpu_time() - cpu_then) * SHARE, MOST_MS)
    if waited < due then
      return draw_in(math.ceil(due - waited))
    end
    timer = nil
    M.draw()
  end, ms)
end

---Schedules a redraw of the list of turns, a turn, or a block of a turn.
---@param turn? tark.Turn
---@param block? tark.Block
function M.mark_stale(turn, block)
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

---Sets what is shown from now on.
---@param bufnr integer
---@param shown? tark.Transcript
---@param sending_turns tark.Turn[] the caller must call `mark_stale` when it changes the list
function M.show(bufnr, shown, sending_turns)
  if not drawing or bufnr ~= drawing.bufnr then
    drawing = new_drawing(bufnr)
    all_stale = true
  end
  all_stale = all_stale or shown ~= transcript
  if (shown and shown.sessionId) ~= (transcript and transcript.sessionId) then
    toggled, all_opened, is_other = {}, false, true
  end
  transcript, sending = shown, sending_turns
end

---Scrolls to the end, which the windows follow from now on.
function M.scroll_to_end()
  for _, window in ipairs(M.windows()) do
    show_end(window, vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(window)))
  end
end

---Draws, and returns whether the user sees the end of this session in a window of the current tab page.
---@param session_id string
---@return boolean
function M.shows_end(session_id)
  if not transcript or transcript.sessionId ~= session_id then
    return false
  end
  M.draw()
  local tabpage = vim.api.nvim_get_current_tabpage()
  return vim.iter(M.windows()):any(function(window)
    local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(window))
    return vim.api.nvim_win_get_tabpage(window) == tabpage and vim.fn.line('w$', window) == last
  end)
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
---@param opened? boolean nil: toggle
function M.toggle(line, opened)
  local piece = M.piece_at(line)
  if not piece or not piece.folds then
    return
  end
  if opened == nil then
    opened = not is_opened(piece.key)
  end
  toggled[piece.key] = opened
  M.mark_stale(piece.turn)
end

---@param opened boolean
function M.toggle_all(opened)
  toggled, all_opened, all_stale = {}, opened, true
  M.mark_stale()
end

---@return integer[] the first line of each turn, from 1
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
