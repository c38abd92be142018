---Finds the names that a user may have meant. Pure.
local M = {}

---Edit distance: how many letters must change.
---@param a string
---@param b string
---@return integer
local function distance(a, b)
  local row = {}
  for column = 0, #b do
    row[column] = column
  end
  for line = 1, #a do
    local corner = row[0]
    row[0] = line
    for column = 1, #b do
      local same = a:sub(line, line) == b:sub(column, column) and 0 or 1
      corner, row[column] = row[column], math.min(row[column] + 1, row[column - 1] + 1, corner + same)
    end
  end
  return row[#b]
end

---@param name string
---@param known string[]
---@return string[] those that are similar enough, the most similar first
function M.most_similar(name, known)
  local most = math.max(2, math.floor(#name / 3))
  local changes, found = {}, {} ---@type table<string, integer>, string[]
  for _, candidate in ipairs(known) do
    changes[candidate] = distance(name, candidate)
    if changes[candidate] <= most then
      table.insert(found, candidate)
    end
  end
  table.sort(found, function(one, other)
    return changes[one] < changes[other] or (changes[one] == changes[other] and one < other)
  end)
  return found
end

return M
