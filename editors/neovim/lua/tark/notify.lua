---What the person is told in a line; what they should not see goes to a log.
local M = {}

---@param message string
---@param level? integer of vim.log.levels
function M.say(message, level)
  vim.schedule(function()
    vim.notify('Tark: ' .. message, level or vim.log.levels.INFO)
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
  M.warn('something went wrong here: ' .. traceback:match('[^\n]*') .. ' (see :LspLog)')
end

return M
