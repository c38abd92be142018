---Draws a question in the float. The user answers with an option (by number or by line), with text, or not at all.
local card = require('tark.waiting.card')
local draft = require('tark.input.draft')
local keys_text = require('tark.waiting.keys')
local notify = require('tark.notify')
local styled_lines = require('tark.waiting.styled_lines')
local waiting = require('tark.state.waiting')
local visible = require('tark.visible')

local M = {}

local LONGEST_TITLE = 120

local chosen = {} ---@type table<string, table<string, boolean>> option ids by request id, if several can be chosen

---@param request tark.Input
---@return table<string, boolean>
local function chosen_of(request)
  chosen[request.requestId] = chosen[request.requestId] or {}
  return chosen[request.requestId]
end

---@param request tark.Input
---@return string
function M.title(request)
  return visible.short(visible.trim(request.question), LONGEST_TITLE)
end

---@param request tark.Input
---@return tark.StyledLines
local function question_lines(request)
  local out = styled_lines.new()
  out:quote(visible.trim(request.question), '> ', 'TarkWaitingSubject')
  out:add('')
  return out
end

---@param request tark.Input
---@param keys tark.WaitingKey[]
---@return tark.StyledLines
function M.draw(request, keys)
  local out = question_lines(request)
  for number, option in ipairs(request.options) do
    local box = not request.multiple and '' or chosen_of(request)[option.id] and '[x] ' or '[ ] '
    out:add({ ('%2d '):format(number), 'TarkKey' }, box .. visible.line(option.label))
  end
  if #request.options > 0 and #keys > 0 then
    out:add('')
  end
  local rest = vim.tbl_filter(function(key)
    return not key[1]:find('^%d$')
  end, keys)
  keys_text.add_lines(out, rest)
  return out
end

---@param entry tark.WaitingRequest
---@param answer string|string[]|vim.NIL
local function answer_with(entry, answer)
  chosen[entry.request.requestId] = nil
  waiting.answer(entry, { answer = answer })
end

---@param entry tark.WaitingRequest
---@param option? { id: string, label: string }
local function choose(entry, option)
  if not option then
    return notify.info('go to the line of an answer, or press its number')
  elseif not entry.request.multiple then
    return answer_with(entry, { option.id })
  end
  local set = chosen_of(entry.request)
  set[option.id] = not set[option.id] or nil
  card.redraw()
end

---@param entry tark.WaitingRequest
---@return { id: string, label: string }? option in the cursor's line
local function option_at_cursor(entry)
  return entry.request.options[vim.api.nvim_win_get_cursor(0)[1] - #question_lines(entry.request).lines]
end

---@param entry tark.WaitingRequest
local function send_chosen(entry)
  local set = chosen_of(entry.request)
  local ids = vim.tbl_map(function(option)
    return set[option.id] and option.id or nil
  end, entry.request.options)
  answer_with(entry, vim.tbl_values(ids))
end

---@param request tark.Input
---@return tark.WaitingKey[]
function M.keys(request)
  local keys, several = {}, request.multiple
  for number, option in ipairs(request.options) do
    if number < 10 then
      local function by_number(entry)
        choose(entry, option)
      end
      table.insert(keys, { tostring(number), visible.short(option.label, 40), by_number, decides = not several })
    end
  end
  if #request.options > 0 then
    local function by_line(entry)
      choose(entry, option_at_cursor(entry))
    end
    if several then
      table.insert(keys, { '<Space>', 'choose this line', by_line, short = 'choose' })
      table.insert(keys, { '<CR>', 'send what is chosen', send_chosen, decides = true, short = 'send' })
    else
      table.insert(keys, { '<CR>', 'answer with this line', by_line, decides = true })
    end
  end
  if request.freeText then
    table.insert(keys, { 'i', 'write your own answer', draft.open, short = 'write' })
  end
  local function decline(entry)
    answer_with(entry, vim.NIL)
  end
  table.insert(keys, { 'd', 'do not answer', decline, decides = true, short = 'do not answer' })
  return keys
end

---@param request tark.Input
---@return boolean
function M.is_written(request)
  return draft.is_open(request.requestId)
end

---If the answer can only be text, opens the window for it.
---@param entry tark.WaitingRequest
function M.entered(entry)
  if entry.request.freeText and #entry.request.options == 0 then
    draft.open(entry)
  end
end

return M
