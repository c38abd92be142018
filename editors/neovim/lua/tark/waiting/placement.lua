---Chooses the side and height of the float so that it does not cover the line of the cursor, and the row of a folded
---float. Pure.
local M = {}

local BORDER = 2
local LEAST = 3

---@class tark.FloatPlacement
---@field side 'bottom'|'top'
---@field height integer of the text, without the border

---@param rows integer number of rows that a float can use
---@param wanted integer number of rows of text
---@param cursor? integer the row of the cursor among them, from 1; nil: there is none to avoid
---@param side 'bottom'|'top' the current side, which is kept if possible
---@return tark.FloatPlacement
function M.choose(rows, wanted, cursor, side)
  local height = math.max(1, math.min(wanted, rows - BORDER))
  if not cursor then
    return { side = side, height = height }
  end
  local free_rows = { bottom = rows - cursor, top = cursor - 1 }
  for _, candidate in ipairs({ side, side == 'bottom' and 'top' or 'bottom' }) do
    if height + BORDER <= free_rows[candidate] then
      return { side = candidate, height = height }
    end
  end
  local larger = free_rows.top > free_rows.bottom and 'top' or 'bottom'
  if free_rows[larger] >= LEAST + BORDER then
    return { side = larger, height = free_rows[larger] - BORDER }
  end
  return { side = side, height = height }
end

---The row for a folded float: the lowest row that is not taken.
---@param rows integer number of rows
---@param taken [integer, integer][] first and last row, from 1
---@return integer row the last one if all are taken
function M.free_row(rows, taken)
  for row = rows, 1, -1 do
    local is_taken = vim.iter(taken):any(function(range)
      return range[1] <= row and row <= range[2]
    end)
    if not is_taken then
      return row
    end
  end
  return rows
end

return M
