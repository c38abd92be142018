---Where the person writes an answer: a few lines beside the question, kept until they are sent or nobody asks any more.
local state = require('tark.state')
local waiting = require('tark.waiting')

local M = {}

local HEIGHT = 4

---@class tark.Draft
---@field each tark.Waiting
---@field buffer integer
---@field window? integer

local drafts = {} ---@type table<string, tark.Draft> by request id

---@param draft tark.Draft
---@return integer? window
local function window_of(draft)
  return draft.window and vim.api.nvim_win_is_valid(draft.window) and draft.window or nil
end

---@param draft tark.Draft
---@return string
local function text_of(draft)
  return table.concat(vim.api.nvim_buf_get_lines(draft.buffer, 0, -1, false), '\n')
end

---@param draft tark.Draft
local function dress(draft)
  local asked = waiting.find(draft.each.request.requestId) ~= nil
  local words = asked and ' <C-s> send   <Esc>q back ' or ' nobody asks any more   q close, your words are kept '
  vim.api.nvim_win_set_config(window_of(draft) --[[@as integer]], {
    title = { { ' Your answer ', 'TarkFloatTitle' } },
    footer = { { words, asked and 'TarkFaint' or 'TarkRiskRisky' } },
    footer_pos = 'right',
  })
end

---Nobody asks any more; it is closed.
---@param draft tark.Draft
local function give_up(draft)
  drafts[draft.each.request.requestId] = nil
  if vim.api.nvim_buf_is_valid(draft.buffer) then
    require('tark.input.kept').keep(text_of(draft), 'the question is no more')
    vim.api.nvim_buf_delete(draft.buffer, { force = true })
  end
end

---The question has its keys and its place again.
local function closed()
  require('tark.waiting.window').make_room(0)
  require('tark.waiting.card').redraw()
end

---@param request_id string
---@return boolean is its window open?
function M.is_open(request_id)
  return drafts[request_id] ~= nil and window_of(drafts[request_id]) ~= nil
end

---@param draft tark.Draft
local function leave(draft)
  vim.cmd.stopinsert()
  local question = require('tark.waiting.window').id()
  if question then
    vim.api.nvim_set_current_win(question)
  end
  local window = window_of(draft)
  draft.window = nil
  if window then
    vim.api.nvim_win_close(window, true)
  end
  closed()
  if not waiting.find(draft.each.request.requestId) then
    give_up(draft)
  end
end

---@param draft tark.Draft
local function send(draft)
  local text, each = text_of(draft), waiting.find(draft.each.request.requestId)
  if each and not text:find('%S') then
    return require('tark.notify').say('there is nothing to send yet (q goes back)')
  end
  leave(draft)
  if each then
    drafts[each.request.requestId] = nil
    vim.api.nvim_buf_delete(draft.buffer, { force = true })
    waiting.answer(each, { answer = text }, text)
  end
end

---@param draft tark.Draft
local function map(draft)
  local function key(modes, lhs, fn, words)
    vim.keymap.set(modes, lhs, function()
      local ok, problem = xpcall(fn, debug.traceback, draft)
      if not ok then
        require('tark.notify').bug(problem)
      end
    end, { buffer = draft.buffer, nowait = true, desc = 'Tark: ' .. words })
  end
  key({ 'n', 'i' }, '<C-s>', send, 'send your answer')
  key('n', '<CR>', send, 'send your answer')
  key('n', 'q', leave, 'back to the question')
end

---@param each tark.Waiting
---@return tark.Draft
local function draft_of(each)
  local id = each.request.requestId
  local draft = drafts[id]
  if not draft or not vim.api.nvim_buf_is_valid(draft.buffer) then
    draft = { each = each, buffer = vim.api.nvim_create_buf(false, true) }
    vim.bo[draft.buffer].bufhidden = 'hide'
    drafts[id] = draft
    map(draft)
  end
  return draft
end

---The person wants to write: goes to their draft, in insert mode.
---@param each tark.Waiting
function M.open(each)
  local draft = draft_of(each)
  if not window_of(draft) then
    draft.window = vim.api.nvim_open_win(draft.buffer, true, require('tark.waiting.window').make_room(HEIGHT))
    vim.wo[draft.window].wrap = true
    vim.wo[draft.window].winhighlight = 'Normal:TarkFloat,FloatBorder:TarkFloatBorder,FloatTitle:TarkFloatTitle'
  end
  vim.api.nvim_set_current_win(draft.window)
  require('tark.waiting.card').redraw() -- its keys are for the question, and are text here
  vim.api.nvim_win_set_config(draft.window, require('tark.waiting.window').make_room(HEIGHT))
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(draft.window),
    once = true,
    callback = vim.schedule_wrap(closed),
  })
  dress(draft)
  vim.cmd.startinsert({ bang = true })
end

---What is not asked any more: closed at once, but not under the hands of one who is writing there.
local function look()
  for id, draft in pairs(drafts) do
    if not waiting.find(id) then
      local window = window_of(draft)
      if window and window == vim.api.nvim_get_current_win() then
        dress(draft)
      else
        if window then
          vim.api.nvim_win_close(window, true)
        end
        give_up(draft)
      end
    end
  end
end

state.on('input', look)
state.on('server', look)

return M
