---The text in the float's border: how many requests wait, how much text is below, and how to answer. For a folded
---request, the one line that shows all of this. Pure.
local figures = require('tark.figures')
local styled_lines = require('tark.waiting.styled_lines')

local M = {}

---@param position integer of the shown request
---@param count integer number of requests
---@param below integer number of screen lines
---@param by_model? boolean the model wrote the question
---@return { [1]: string, [2]: string }[]
function M.title(position, count, below, by_model)
  local title = { { by_model and ' The model asks ' or ' Tark asks ', 'TarkFloatTitle' } }
  if count > 1 then
    table.insert(title, { ('· %d of %d '):format(position, count), 'TarkFloatTitle' })
  end
  if below > 0 then
    table.insert(title, { ('· %s below '):format(figures.counted(below, 'more line')), 'TarkRiskRisky' })
  end
  return title
end

---@param key string that brings the user to the float
---@return { [1]: string, [2]: string }[]
function M.how_to_answer(key)
  return { { (' %s to answer '):format(key), 'TarkFaint' } }
end

---@param title string
---@param position integer of the request
---@param count integer number of requests
---@param key string that brings the user to the float
---@param width integer in columns: the title is shortened to it
---@param by_model? boolean
---@return tark.StyledLines
function M.line(title, position, count, key, width, by_model)
  local drawn = styled_lines.new()
  local place, answer = count > 1 and (' (%d of %d)'):format(position, count) or '', M.how_to_answer(key)[1]
  local asks = (' %s%s: '):format(by_model and 'The model asks' or 'Tark asks', place)
  local room = math.max(width - vim.api.nvim_strwidth(asks .. answer[1]) - 1, 1)
  if vim.api.nvim_strwidth(title) > room then
    title = vim.fn.printf(('%%.%dS…'):format(math.max(room - 1, 0)), title)
  end
  drawn:add({ asks, 'TarkFloatTitle' }, { title, 'TarkWaitingSubject' }, answer)
  return drawn
end

---@return { [1]: string, [2]: string }[] while the next question can come
function M.answered()
  return { { ' q', 'TarkKey' }, { ' back ', 'TarkFaint' } }
end

---@param keys tark.WaitingKey[]
---@return { [1]: string, [2]: string }[]
function M.keys(keys)
  local pieces = {}
  for _, key in ipairs(keys) do
    if key.short then
      vim.list_extend(pieces, { { ' ' .. key[1], 'TarkKey' }, { ' ' .. key.short .. ' ', 'TarkFaint' } })
    end
  end
  return pieces
end

return M
