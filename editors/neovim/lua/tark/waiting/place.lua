---Where the float stands: at the right, below or above, wherever it leaves the line of the cursor free. Pure.
local M = {}

local BORDER = 2
local LEAST = 3

---@class tark.FloatPlace
---@field side 'bottom'|'top'
---@field height integer of the text, without the border

---@param rows integer of the screen that a float can have
---@param wanted integer rows of text
---@param cursor? integer the row of the cursor among them, from 1; nil: there is none to keep clear of
---@param side 'bottom'|'top' where it stands now, and stays if it can
---@return tark.FloatPlace
function M.at(rows, wanted, cursor, side)
  local height = math.max(1, math.min(wanted, rows - BORDER))
  if not cursor then
    return { side = side, height = height }
  end
  local room = { bottom = rows - cursor, top = cursor - 1 }
  for _, each in ipairs({ side, side == 'bottom' and 'top' or 'bottom' }) do
    if height + BORDER <= room[each] then
      return { side = each, height = height }
    end
  end
  local larger = room.top > room.bottom and 'top' or 'bottom'
  if room[larger] >= LEAST + BORDER then
    return { side = larger, height = room[larger] - BORDER }
  end
  return { side = side, height = height }
end

return M
