---Shows messages of one line to the user. Details go to a log.
local visible = require('tark.visible')

local M = {}

local REPEATED_MS = 1000
local RESERVED = 13 -- columns of the last line that a message cannot use

local shown_at = {} ---@type table<string, integer> by text: when it was last shown, in ms

---Neovim's own vim.notify() waits for a key if a message does not fit the line, or comes right after another one. That
---would swallow a key that the user types. `:echomsg` cuts out the middle of the message, and :messages has all of it.
---So the beginning of the message, which says what happened, is shown instead.
---@param text string
---@param level integer
local function show(text, level)
  if not debug.getinfo(vim.notify, 'S').source:match('^@vim/') then
    return vim.notify(text, level) -- a plugin replaced vim.notify(), and has room for long messages
  end
  local room = math.max(vim.o.columns - RESERVED, 1)
  local beginning = vim.fn.strdisplaywidth(text) > room and vim.fn.printf('%.' .. room - 1 .. 'S…', text)
  if beginning and vim.o.cmdheight == 0 then -- then :echomsg shortens nothing
    require('vim.lsp.log').warn('tark', text)
    text, beginning = beginning, false
  end
  local shortmess = vim.o.shortmess
  vim.opt.shortmess:append('T')
  vim.cmd.redraw()
  vim.cmd.echohl(level >= vim.log.levels.WARN and 'WarningMsg' or 'None')
  vim.cmd.echomsg(vim.fn.string(text))
  if beginning then
    vim.cmd.redraw()
    vim.cmd.echo(vim.fn.string(beginning))
  end
  vim.cmd.echohl('None')
  vim.o.shortmess = shortmess
end

---@param text string
---@param level integer
local function show_when_visible(text, level)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  if vim.api.nvim_get_mode().mode:match('^c') then -- not over the command line that the user types
    vim.api.nvim_create_autocmd('CmdlineLeave', {
      once = true,
      callback = vim.schedule_wrap(function()
        show(text, level)
      end),
    })
  else
    show(text, level)
  end
end

---Can be called from anywhere, also in fast events. Shows the same text only once within a second.
---@param message string
---@param level? integer of vim.log.levels
function M.info(message, level)
  local text = 'Tark: ' .. visible.message(message)
  local now = vim.uv.now()
  for former, time in pairs(shown_at) do
    shown_at[former] = now - time < REPEATED_MS and time or nil
  end
  if not shown_at[text] then
    shown_at[text] = now
    vim.schedule(function()
      show_when_visible(text, level or vim.log.levels.INFO)
    end)
  end
end

---@param message string
function M.warn(message)
  M.info(message, vim.log.levels.WARN)
end

---An error in the plugin: shows one line. The traceback goes to the log of the language client.
---@param traceback any of debug.traceback(), which returns an error that is not a string unchanged
function M.internal_error(traceback)
  traceback = type(traceback) == 'string' and traceback or vim.inspect(traceback)
  require('vim.lsp.log').error('tark', traceback)
  M.warn(
    'something went wrong in the plugin: ' .. traceback:match('[^\n]*') .. ' (the log has more: :checkhealth vim.lsp)'
  )
end

return M
