---What the person is told in a line; what they should not see goes to a log.
local M = {}

local REPEATED_MS = 1000

local told = {} ---@type table<string, integer> when each text was told last, in ms

---May be called from anywhere, also from fast events. The same text within a second is told once.
---@param message string
---@param level? integer of vim.log.levels
function M.say(message, level)
  local text = 'Tark: ' .. message:gsub('%s*\n%s*', ' ')
  local now = vim.uv.now()
  if told[text] and now - told[text] < REPEATED_MS then
    return
  end
  told[text] = now
  vim.schedule(function()
    for each, at in pairs(told) do
      told[each] = vim.uv.now() - at < REPEATED_MS and at or nil
    end
    if vim.v.exiting == vim.NIL then
      vim.notify(text, level or vim.log.levels.INFO)
    end
  end)
end

---@param message string
function M.warn(message)
  M.say(message, vim.log.levels.WARN)
end

---A fault of ours: told in a line, the stack in the log of the language client.
---@param traceback string
function M.bug(traceback)
  require('vim.lsp.log').error('tark', traceback)
  M.warn('something went wrong here: ' .. traceback:match('[^\n]*') .. ' (the log has more: :checkhealth vim.lsp)')
end

return M
