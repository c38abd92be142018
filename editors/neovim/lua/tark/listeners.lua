---Event listeners. They let a lower layer call an upper one without requiring it (spec/layers_spec.lua).
local notify = require('tark.notify')

---@class tark.Listeners
---@field private by_event table<string, function[]>
local Listeners = {}
Listeners.__index = Listeners

---@return tark.Listeners
function Listeners.new()
  return setmetatable({ by_event = {} }, Listeners)
end

---@param event string
---@param listener function
---@return fun() stop
function Listeners:on(event, listener)
  self.by_event[event] = self.by_event[event] or {}
  table.insert(self.by_event[event], listener)
  return function()
    -- A new list, so that an `emit` that is walking through the old one is not disturbed.
    self.by_event[event] = vim.tbl_filter(function(other)
      return other ~= listener
    end, self.by_event[event])
  end
end

---Calls all listeners even if one of them fails, except those that were stopped during this call.
---@param event string
function Listeners:emit(event, ...)
  for _, listener in ipairs(vim.list_slice(self.by_event[event] or {})) do
    if vim.list_contains(self.by_event[event], listener) then
      local ok, problem = xpcall(listener, debug.traceback, ...)
      if not ok then
        notify.internal_error(problem)
      end
    end
  end
end

return Listeners
