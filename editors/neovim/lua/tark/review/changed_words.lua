---Finds the words of a line that differ from those of another line. Pure.
local M = {}

---Longer lines and hunks are not compared: that would take long and help little.
local LONGEST_LINE, MOST_LINES = 500, 50
---The words are not marked if a larger part of the line differs.
local MOST_CHANGED = 0.6

---@param line string
---@return string[] words runs of letters and digits, runs of spaces, and each other character
local function words_of(line)
  local words, at = {}, 1
  while at <= #line do
    local last = select(2, line:find('^[%w_\128-\255]+', at)) or select(2, line:find('^%s+', at)) or at
    table.insert(words, line:sub(at, last))
    at = last + 1
  end
  return words
end

---@param words string[]
---@return integer[] ends byte where each word ends; the first is 0
local function ends_of(words)
  local ends = { 0 }
  for index, word in ipairs(words) do
    ends[index + 1] = ends[index] + #word
  end
  return ends
end

---@alias tark.ByteRange integer[] { from, to } in bytes, from 0, `to` excluded

---@param old string
---@param new string
---@return tark.ByteRange[] in_old
---@return tark.ByteRange[] in_new both are empty if the lines have too little in common
function M.changed(old, new)
  if old == new or old == '' or new == '' or math.max(#old, #new) > LONGEST_LINE then
    return {}, {}
  end
  local old_words, new_words = words_of(old), words_of(new)
  local old_ends, new_ends = ends_of(old_words), ends_of(new_words)
  local in_old, in_new, size = {}, {}, 0
  local options = { result_type = 'indices', algorithm = 'minimal' }
  local found = vim.diff(table.concat(old_words, '\n') .. '\n', table.concat(new_words, '\n') .. '\n', options)
  for _, difference in
    ipairs(found --[[@as integer[][] ]])
  do
    local old_start, old_count, new_start, new_count = unpack(difference)
    if old_count > 0 then
      table.insert(in_old, { old_ends[old_start], old_ends[old_start + old_count] })
      size = size + in_old[#in_old][2] - in_old[#in_old][1]
    end
    if new_count > 0 then
      table.insert(in_new, { new_ends[new_start], new_ends[new_start + new_count] })
      size = size + in_new[#in_new][2] - in_new[#in_new][1]
    end
  end
  if size > MOST_CHANGED * (#old + #new) then
    return {}, {}
  end
  return in_old, in_new
end

---Compares line by line, if there are as many new lines as old ones.
---@param old string[]
---@param new string[]
---@return table<integer, tark.ByteRange[]> in_old by number of the line
---@return table<integer, tark.ByteRange[]> in_new
function M.in_lines(old, new)
  local in_old, in_new = {}, {}
  if #old == #new and #old <= MOST_LINES then
    for number = 1, #old do
      in_old[number], in_new[number] = M.changed(old[number], new[number])
    end
  end
  return in_old, in_new
end

return M
