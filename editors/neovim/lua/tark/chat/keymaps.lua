---Maps the chat's keys in its two buffers.
local actions = require('tark.chat.actions')
local buffers = require('tark.chat.buffers')
local keys = require('tark.chat.keys')
local notify = require('tark.notify')

local M = {}

---@param bufnr integer
---@param row tark.ChatKey
local function map_key(bufnr, row)
  local _, modes, lhs_list, description, call = unpack(row)
  local name, argument = call:match('^(%S+) ?(.*)$')
  for _, lhs in ipairs(lhs_list) do
    vim.keymap.set(vim.split(modes, ''), lhs, function()
      local ok, problem = xpcall(actions[name], debug.traceback, argument)
      if not ok then
        notify.internal_error(problem)
      end
    end, { buffer = bufnr, nowait = true, desc = 'Tark: ' .. description })
  end
end

buffers.on_created(function(bufnr, part)
  for _, row in ipairs(keys.table) do
    if row[1] == part or row[1] == 'both' then
      map_key(bufnr, row)
    end
  end
end)

return M
