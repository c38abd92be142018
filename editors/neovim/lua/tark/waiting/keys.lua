---The keys of what waits: mapped in its buffer, listed in its text, and dead for a moment after the text or the focus
---came, so that none that was meant for something else decides.
local M = {}

local DEAD_MS = 300

---@class tark.WaitingKey
---@field [1] string
---@field [2] string what it does, in words
---@field [3] fun(waiting: tark.Waiting)
---@field decides? boolean what is dead for a moment
---@field leaves? boolean also where nothing waits any more
---@field grants? boolean works once the end of the text was on the screen
---@field short? string what the border says of it
---@field line? boolean has a line of its own in the text
---@field also? string[] other keys for the same

local live_at = 0 -- milliseconds

---@return number milliseconds; vim.uv.now() stands still while Lua runs
local function now()
  return vim.uv.hrtime() / 1e6
end

function M.die_for_a_moment()
  live_at = now() + DEAD_MS
end

---@return boolean
function M.live()
  return now() >= live_at
end

---@param buffer integer
---@param keys tark.WaitingKey[]
---@param press fun(key: tark.WaitingKey)
function M.map(buffer, keys, press)
  for _, key in ipairs(keys) do
    for _, lhs in ipairs(vim.list_extend({ key[1] }, key.also or {})) do
      vim.keymap.set('n', lhs, function()
        local ok, problem = xpcall(press, debug.traceback, key)
        if not ok then
          require('tark.notify').bug(problem)
        end
      end, { buffer = buffer, nowait = true, desc = 'Tark: ' .. key[2] })
    end
  end
end

---@param into tark.Lines
---@param keys tark.WaitingKey[]
function M.add(into, keys)
  local rest = {}
  for _, key in ipairs(keys) do
    if key.line then
      into:add({ key[1], 'TarkKey' }, ' ' .. key[2])
    else
      vim.list_extend(rest, { #rest == 0 and '' or '   ', { key[1], 'TarkKey' }, ' ' .. key[2] })
    end
  end
  if #rest > 0 then
    into:add(unpack(rest))
    into.tail = 1
  end
end

return M
