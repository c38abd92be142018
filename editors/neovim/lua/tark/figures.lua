---Formats numbers, money and times for display. Pure.
local M = {}

---@param number integer
---@return string '950', '8.1k', '200k', '1.2M'
function M.short_number(number)
  if number < 1000 then
    return tostring(number)
  end
  local unit, name = 1000, 'k'
  if number >= 999950 then
    unit, name = 1000000, 'M'
  end
  return (('%.1f'):format(number / unit):gsub('%.0$', '')) .. name
end

---@param usd? number
---@return string '$0.0123', '$4.20', '' if it is unknown
function M.money(usd)
  if not usd then
    return ''
  end
  return ((usd > 0 and usd < 0.1) and '$%.4f' or '$%.2f'):format(usd)
end

---@param time string ISO 8601 in UTC
---@param now? integer seconds, as of `os.time(os.date('!*t'))`
---@return string 'now', '5 min', '3 h', '2 d'
function M.age(time, now)
  local year, month, day, hour, min, sec = time:match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)')
  if not year then
    return ''
  end
  -- Both times are UTC read as local time without summer time, so their difference is right.
  now = now or os.time(os.date('!*t') --[[@as osdateparam]])
  local seconds = now
    - os.time({ year = year, month = month, day = day, hour = hour, min = min, sec = sec, isdst = false })
  if seconds < 60 then
    return 'now'
  elseif seconds < 3600 then
    return ('%d min'):format(seconds / 60)
  elseif seconds < 86400 then
    return ('%d h'):format(seconds / 3600)
  end
  return ('%d d'):format(seconds / 86400)
end

---@param number integer
---@param noun string in the singular
---@return string '1 turn', '2 turns', '2 switches'
function M.counted(number, noun)
  local ending = number == 1 and '' or noun:find('ch$') and 'es' or 's'
  return ('%d %s%s'):format(number, noun, ending)
end

---Joins the parts that are not empty.
---@param ... string?
---@return string
function M.join(...)
  local parts = {}
  for index = 1, select('#', ...) do
    local part = select(index, ...)
    if part and part ~= '' then
      table.insert(parts, part)
    end
  end
  return table.concat(parts, ' · ')
end

return M
