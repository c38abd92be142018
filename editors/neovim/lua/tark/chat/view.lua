---Draws a transcript into its buffer: at most every 30 ms, only what changed, and nothing while no window shows it.
---Who reads above stays where they are; who is at the end follows it.
local render = require('tark.chat.render')

local M = {}

---@class tark.DrawnTurn
---@field turn tark.Turn
---@field pieces tark.Piece[]
---@field counts integer[] lines of each piece
---@field count integer of all of them

local EVERY_MS = 30
local namespace = vim.api.nvim_create_namespace('tark.chat')

local bufnr ---@type integer?
local transcript ---@type tark.Transcript?
local outbox = {} ---@type tark.Turn[] what was sent and is in no transcript yet
local drawn = {} ---@type tark.DrawnTurn[]
local header = 0 -- lines above the first turn
local stale = {} ---@type table<tark.Turn, true> turns to be drawn anew
local all_stale = true
local toggled = {} ---@type table<string, boolean> pieces that the person opened or closed, by key
local all_opened = false
local timer ---@type uv.uv_timer_t?

---@param key string
local function is_opened(key)
  if toggled[key] ~= nil then
    return toggled[key]
  end
  return all_opened
end

---Writes lines over others, and only what differs, so that marks, cursors and the view around it stay.
---@param first integer line, from 0
---@param last integer excluded
---@param lines string[]
local function replace(first, last, lines)
  last = last < 0 and vim.api.nvim_buf_line_count(bufnr) or last
  local old = vim.api.nvim_buf_get_lines(bufnr, first, last, true)
  local head, tail = 0, 0
  while head < #old and head < #lines and old[head + 1] == lines[head + 1] do
    head = head + 1
  end
  while tail < #old - head and tail < #lines - head and old[#old - tail] == lines[#lines - tail] do
    tail = tail + 1
  end
  local new = vim.list_slice(lines, head + 1, #lines - tail)
  local grows = old[head + 1]
  if #old - head - tail == 1 and #new > 0 and vim.startswith(new[1], grows) then
    new[1] = new[1]:sub(#grows + 1)
    vim.api.nvim_buf_set_text(bufnr, first + head, #grows, first + head, #grows, new)
  elseif #new > 0 or #old > head + tail then
    vim.api.nvim_buf_set_lines(bufnr, first + head, last - tail, true, new)
  end
end

---@param piece tark.Piece
---@param row integer its first line, from 0
local function highlight(piece, row)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, row + piece.stable, row + piece.stable + #piece.lines)
  for _, mark in ipairs(piece.marks) do
    local whole = not mark.stop
    vim.api.nvim_buf_set_extmark(bufnr, namespace, row + mark.row, 0, {
      end_row = whole and row + mark.row + 1 or nil,
      end_col = whole and 0 or mark.stop,
      strict = false,
      hl_group = mark.group,
      priority = whole and 150 or 160, -- above treesitter's
    })
  end
end

---@param turn tark.Turn
---@param row integer its first line, from 0
---@param before tark.DrawnTurn? what stands there
---@return tark.DrawnTurn
local function draw_turn(turn, row, before)
  local old = before or { pieces = {}, counts = {}, count = 0 }
  local new = { turn = turn, pieces = render.turn(turn, is_opened, old.pieces), counts = {}, count = 0 }
  for index, piece in ipairs(new.pieces) do
    local count = piece.stable + #piece.lines
    -- What stood after the last piece of now goes with it.
    local there = old.counts[index] or 0
    if index == #new.pieces then
      for gone = index + 1, #old.pieces do
        there = there + old.counts[gone]
      end
    end
    replace(row + piece.stable, row + there, piece.lines)
    highlight(piece, row)
    new.counts[index] = count
    new.count, row = new.count + count, row + count
    piece.lines = {} -- the buffer has them
  end
  return new
end

---@return tark.Turn[]
local function shown_turns()
  return vim.list_extend(vim.list_slice(transcript and transcript.turns or {}), outbox)
end

---@return string[]
local function header_lines()
  if transcript and transcript.earlier then
    return { '… earlier messages (<CR>)' }
  end
  return { 'g? shows the keys' }
end

---All at once: one write is much faster than one for each turn.
local function draw_all()
  local lines = header_lines()
  header, drawn = #lines, {}
  local pieces = { { lines = vim.list_slice(lines), stable = 0, marks = { { row = 0, group = 'TarkUsage' } } } }
  for _, turn in ipairs(shown_turns()) do
    local new = { turn = turn, pieces = render.turn(turn, is_opened), counts = {}, count = 0 }
    for index, piece in ipairs(new.pieces) do
      vim.list_extend(lines, piece.lines)
      new.counts[index] = #piece.lines
      new.count = new.count + #piece.lines
      table.insert(pieces, piece)
    end
    table.insert(drawn, new)
  end
  replace(0, -1, lines)
  local row = 0
  for _, piece in ipairs(pieces) do
    local count = #piece.lines
    highlight(piece, row)
    row, piece.lines = row + count, {}
  end
end

---The turns that were drawn stay, as far as they are the same; what follows them is drawn anew.
---@return boolean done false: somebody else wrote into the buffer, so that all is to be drawn
local function draw_stale()
  local turns = shown_turns()
  local rows = { header } -- where each turn begins; the last one is where they end
  for index, each in ipairs(drawn) do
    rows[index + 1] = rows[index] + each.count
  end
  if rows[#rows] ~= vim.api.nvim_buf_line_count(bufnr) then
    return false
  end
  local same = 0
  while same < #drawn and turns[same + 1] == drawn[same + 1].turn do
    same = same + 1
  end
  if same == 0 and #drawn > 0 then
    return false
  end
  if same < #drawn then
    replace(rows[same + 1], -1, {})
    drawn = vim.list_slice(drawn, 1, same)
  end
  for index = same, 1, -1 do
    if stale[turns[index]] then
      drawn[index] = draw_turn(turns[index], rows[index], drawn[index])
    end
  end
  for index = same + 1, #turns do
    drawn[index] = draw_turn(turns[index], vim.api.nvim_buf_line_count(bufnr))
  end
  return true
end

---@return integer[] windows
function M.windows()
  return bufnr and vim.api.nvim_buf_is_loaded(bufnr) and vim.fn.win_findbuf(bufnr) or {}
end

local function draw()
  local windows = M.windows()
  if #windows == 0 or not bufnr then
    return
  end
  local last = vim.api.nvim_buf_line_count(bufnr)
  local following = vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] == last
  end, windows)
  vim.bo[bufnr].modifiable = true
  local ok, problem = xpcall(function()
    if all_stale or not draw_stale() then
      draw_all()
    end
  end, debug.traceback)
  vim.bo[bufnr].modifiable = false
  stale, all_stale = {}, not ok
  if not ok then
    require('tark.notify').bug(problem)
  end
  last = vim.api.nvim_buf_line_count(bufnr)
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { last, 0 })
  end
end

---Something is to be drawn anew: this turn, or which turns there are.
---@param turn? tark.Turn
function M.touch(turn)
  if turn then
    stale[turn] = true
  end
  if timer or #M.windows() == 0 then
    return
  end
  timer = vim.defer_fn(function()
    timer = nil
    draw()
  end, EVERY_MS)
end

---What is to be shown from now on.
---@param buffer integer
---@param shown? tark.Transcript
---@param sent tark.Turn[] it may change: then `touch` is to be called
function M.show(buffer, shown, sent)
  if buffer ~= bufnr or shown ~= transcript then
    all_stale = true
  end
  if (shown and shown.sessionId) ~= (transcript and transcript.sessionId) then
    toggled, all_opened = {}, false
  end
  bufnr, transcript, outbox = buffer, shown, sent
end

---At once, for a window that has just been opened.
function M.draw_now()
  draw()
end

---The end of it comes into view, and is followed from now on.
function M.to_end()
  for _, window in ipairs(M.windows()) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(bufnr), 0 })
  end
end

---@param line integer from 1
---@return tark.Piece? piece
---@return integer? first line of it, from 1
function M.piece_at(line)
  local row = header
  for _, each in ipairs(drawn) do
    if line <= row + each.count then
      for index, piece in ipairs(each.pieces) do
        if line > row and line <= row + each.counts[index] then
          return piece, row + 1
        end
        row = row + each.counts[index]
      end
    end
    row = row + each.count
  end
end

---@param line integer from 1
---@return boolean
function M.is_header(line)
  return line <= header
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
  local lines, row = {}, header
  for _, each in ipairs(drawn) do
    table.insert(lines, row + 2) -- behind the blank line
    row = row + each.count
  end
  return lines
end

return M
