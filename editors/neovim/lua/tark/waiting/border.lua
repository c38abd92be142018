---What stands in the border of the float: how many wait, how much of the text is below, and how to answer. Pure.
local M = {}

---@param place integer of the one that is shown, among
---@param count integer
---@param below integer lines of the screen
---@param by_model? boolean it is a model's own question
---@return { [1]: string, [2]: string }[]
function M.title(place, count, below, by_model)
  local title = { { by_model and ' The model asks ' or ' Tark asks ', 'TarkFloatTitle' } }
  if count > 1 then
    table.insert(title, { ('· %d of %d '):format(place, count), 'TarkFloatTitle' })
  end
  if below > 0 then
    table.insert(
      title,
      { ('· %s below '):format(require('tark.figures').counted(below, 'more line')), 'TarkRiskRisky' }
    )
  end
  return title
end

---@param hint string how the person comes here
---@return { [1]: string, [2]: string }[]
function M.to_come(hint)
  return { { (' %s to answer '):format(hint), 'TarkFaint' } }
end

---@return { [1]: string, [2]: string }[] while the next question may come
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
