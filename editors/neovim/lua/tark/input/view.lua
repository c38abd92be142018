---A question in the float: its options by number or by line, words of the person's own, or no answer at all.
local waiting = require('tark.waiting')
local visible = require('tark.visible')

local M = {}

local LONGEST_TITLE = 120

local chosen = {} ---@type table<string, table<string, boolean>> option ids by request id, where several can be chosen

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
---@return tark.Lines
local function head(request)
  local into = require('tark.waiting.lines').new()
  into:quote(visible.trim(request.question), '> ', 'TarkWaitingSubject')
  into:add('')
  return into
end

---@param request tark.Input
---@param keys tark.WaitingKey[]
---@return tark.Lines
function M.draw(request, keys)
  local into = head(request)
  for number, option in ipairs(request.options) do
    local box = not request.multiple and '' or chosen_of(request)[option.id] and '[x] ' or '[ ] '
    into:add({ ('%2d '):format(number), 'TarkKey' }, box .. visible.line(option.label))
  end
  if #request.options > 0 and #keys > 0 then
    into:add('')
  end
  local rest = vim.tbl_filter(function(key)
    return not key[1]:find('^%d$')
  end, keys)
  require('tark.waiting.keys').add(into, rest)
  return into
end

---@param each tark.Waiting
---@param answer string|string[]|vim.NIL
local function answer_with(each, answer)
  chosen[each.request.requestId] = nil
  waiting.answer(each, { answer = answer })
end

---@param each tark.Waiting
---@param option? { id: string, label: string }
local function choose(each, option)
  if not option then
    return require('tark.notify').say('go to the line of an answer, or press its number')
  elseif not each.request.multiple then
    return answer_with(each, { option.id })
  end
  local set = chosen_of(each.request)
  set[option.id] = not set[option.id] or nil
  require('tark.waiting.card').redraw()
end

---@param each tark.Waiting
---@return { id: string, label: string }? option whose line the cursor is at
local function at_cursor(each)
  return each.request.options[vim.api.nvim_win_get_cursor(0)[1] - #head(each.request).lines]
end

---@param each tark.Waiting
local function send_chosen(each)
  local set = chosen_of(each.request)
  local ids = vim.tbl_map(function(option)
    return set[option.id] and option.id or nil
  end, each.request.options)
  answer_with(each, vim.tbl_values(ids))
end

---@param request tark.Input
---@return tark.WaitingKey[]
function M.keys(request)
  local keys, several = {}, request.multiple
  for number, option in ipairs(request.options) do
    if number < 10 then
      local function by_number(each)
        choose(each, option)
      end
      table.insert(keys, { tostring(number), visible.short(option.label, 40), by_number, decides = not several })
    end
  end
  if #request.options > 0 then
    local function by_line(each)
      choose(each, at_cursor(each))
    end
    if several then
      table.insert(keys, { '<Space>', 'choose this line', by_line, short = 'choose' })
      table.insert(keys, { '<CR>', 'send what is chosen', send_chosen, decides = true, short = 'send' })
    else
      table.insert(keys, { '<CR>', 'answer with this line', by_line, decides = true })
    end
  end
  if request.freeText then
    table.insert(keys, { 'i', 'your own words', require('tark.input.draft').open, short = 'write' })
  end
  local function decline(each)
    answer_with(each, vim.NIL)
  end
  table.insert(keys, { 'd', 'do not answer', decline, decides = true, short = 'do not answer' })
  return keys
end

---@param request tark.Input
---@return boolean
function M.is_written(request)
  return require('tark.input.draft').is_open(request.requestId)
end

---Where only words can be the answer, they are what the person comes for.
---@param each tark.Waiting
function M.entered(each)
  if each.request.freeText and #each.request.options == 0 then
    require('tark.input.draft').open(each)
  end
end

return M
