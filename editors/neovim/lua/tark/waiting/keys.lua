---The keys of the float: mapped in its buffer and listed in its text. Keys that decide are disabled for a moment after
---the text or the focus has changed, so that a key that the user typed for something else decides nothing.
local notify = require('tark.notify')

local M = {}

local DISABLED_MS = 300

---@class tark.WaitingKey
---@field [1] string
---@field [2] string description
---@field [3] fun(waiting: tark.WaitingRequest)
---@field decides? boolean disabled for a moment
---@field leaves? boolean works even if nothing waits any more
---@field grants? boolean works only after the end of the text was on the screen
---@field short? string its description in the border; nil: not shown there
---@field line? boolean has a separate line in the text
---@field also? string[] other keys for the same

local enabled_at = 0 -- milliseconds

---@return number milliseconds; vim.uv.now() does not advance while Lua runs
local function now()
  return vim.uv.hrtime() / 1e6
end

function M.disable_briefly()
  enabled_at = now() + DISABLED_MS
end

---@return boolean
function M.are_enabled()
  return now() >= enabled_at
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
          notify.internal_error(problem)
        end
      end, { buffer = buffer, nowait = true, desc = 'Tark: ' .. key[2] })
    end
  end
end

---Adds the list of keys to the text.
---@param out tark.StyledLines
---@param keys tark.WaitingKey[]
function M.add_lines(out, keys)
  local rest = {}
  for _, key in ipairs(keys) do
    if key.line then
      out:add({ key[1], 'TarkKey' }, ' ' .. key[2])
    else
      vim.list_extend(rest, { #rest == 0 and '' or '   ', { key[1], 'TarkKey' }, ' ' .. key[2] })
    end
  end
  if #rest > 0 then
    out:add(unpack(rest))
    out.tail = 1
  end
end

return M
