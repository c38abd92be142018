---A window in which the user writes an answer, beside the question. The text is kept until it is sent, or until the
---question is withdrawn.
local card = require('tark.waiting.card')
local kept_text = require('tark.kept_text')
local notify = require('tark.notify')
local state = require('tark.state')
local waiting = require('tark.state.waiting')
local window = require('tark.waiting.window')

local M = {}

local HEIGHT = 4

---@class tark.Draft
---@field entry tark.WaitingRequest
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
local function update_border(draft)
  local still_waits = waiting.find_request(draft.entry.request.requestId) ~= nil
  local footer = still_waits and ' <C-s> send   <Esc>q back '
    or ' the question was withdrawn   q close, your text is kept '
  vim.api.nvim_win_set_config(window_of(draft) --[[@as integer]], {
    title = { { ' Your answer ', 'TarkFloatTitle' } },
    footer = { { footer, still_waits and 'TarkFaint' or 'TarkRiskRisky' } },
    footer_pos = 'right',
  })
end

---The question was withdrawn: keeps the text, and deletes the buffer.
---@param draft tark.Draft
local function discard(draft)
  drafts[draft.entry.request.requestId] = nil
  if vim.api.nvim_buf_is_valid(draft.buffer) then
    kept_text.keep(text_of(draft), 'the question was withdrawn')
    vim.api.nvim_buf_delete(draft.buffer, { force = true })
  end
end

---Restores the keys and the place of the question.
local function draft_closed()
  window.reserve_below(0)
  card.redraw()
end

---@param request_id string
---@return boolean is its window open?
function M.is_open(request_id)
  return drafts[request_id] ~= nil and window_of(drafts[request_id]) ~= nil
end

---@param draft tark.Draft
local function leave(draft)
  vim.cmd.stopinsert()
  local question = window.id()
  if question then
    vim.api.nvim_set_current_win(question)
  end
  local id = window_of(draft)
  draft.window = nil
  if id then
    vim.api.nvim_win_close(id, true)
  end
  draft_closed()
  if not waiting.find_request(draft.entry.request.requestId) then
    discard(draft)
  end
end

---@param draft tark.Draft
local function send(draft)
  local text, entry = text_of(draft), waiting.find_request(draft.entry.request.requestId)
  if entry and not text:find('%S') then
    return notify.info('there is nothing to send yet (q goes back)')
  end
  leave(draft)
  if entry then
    drafts[entry.request.requestId] = nil
    vim.api.nvim_buf_delete(draft.buffer, { force = true })
    waiting.answer(entry, { answer = text }, text)
  end
end

---@param draft tark.Draft
local function map_keys(draft)
  local function map(modes, lhs, fn, description)
    vim.keymap.set(modes, lhs, function()
      local ok, problem = xpcall(fn, debug.traceback, draft)
      if not ok then
        notify.internal_error(problem)
      end
    end, { buffer = draft.buffer, nowait = true, desc = 'Tark: ' .. description })
  end
  map({ 'n', 'i' }, '<C-s>', send, 'send your answer')
  map('n', '<CR>', send, 'send your answer')
  map('n', 'q', leave, 'back to the question')
end

---@param entry tark.WaitingRequest
---@return tark.Draft
local function draft_of(entry)
  local id = entry.request.requestId
  local draft = drafts[id]
  if not draft or not vim.api.nvim_buf_is_valid(draft.buffer) then
    draft = { entry = entry, buffer = vim.api.nvim_create_buf(false, true) }
    vim.bo[draft.buffer].bufhidden = 'hide'
    drafts[id] = draft
    map_keys(draft)
  end
  return draft
end

---Moves the user to the draft, in insert mode.
---@param entry tark.WaitingRequest
function M.open(entry)
  local draft = draft_of(entry)
  if not window_of(draft) then
    draft.window = vim.api.nvim_open_win(draft.buffer, true, window.reserve_below(HEIGHT))
    vim.wo[draft.window].wrap = true
    vim.wo[draft.window].winhighlight = 'Normal:TarkFloat,FloatBorder:TarkFloatBorder,FloatTitle:TarkFloatTitle'
  end
  vim.api.nvim_set_current_win(draft.window)
  card.redraw() -- without its keys, which would be text here
  vim.api.nvim_win_set_config(draft.window, window.reserve_below(HEIGHT))
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(draft.window),
    once = true,
    callback = vim.schedule_wrap(draft_closed),
  })
  update_border(draft)
  vim.cmd.startinsert({ bang = true })
end

---Closes drafts whose question was withdrawn, except one in which the user is writing.
local function close_withdrawn()
  for request_id, draft in pairs(drafts) do
    if not waiting.find_request(request_id) then
      local id = window_of(draft)
      if id and id == vim.api.nvim_get_current_win() then
        update_border(draft)
      else
        if id then
          vim.api.nvim_win_close(id, true)
        end
        discard(draft)
      end
    end
  end
end

state.on('input', close_withdrawn)
state.on('server', close_withdrawn)

return M
