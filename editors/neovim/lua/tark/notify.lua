---What the person is told in a line; what they should not see goes to a log.
local M = {}

local REPEATED_MS = 1000
local BESIDE = 13 -- columns of the last line that are for others than a message

local told = {} ---@type table<string, integer> when each text was told last, in ms

---Neovim's own vim.notify() asks for a key where a message does not fit its line, or comes right after another one:
---that would take what is being typed. `:echomsg` shows it shortened, and :messages has all of it.
---@param text string
---@param level integer
local function show(text, level)
  text = require('tark.visible').code(text)
  if not debug.getinfo(vim.notify, 'S').source:match('^@vim/') then
    return vim.notify(text, level) -- a plugin's, which has room
  end
  if vim.o.cmdheight == 0 then -- nothing is shortened there
    local room = math.max(vim.o.columns - BESIDE, 1)
    if vim.fn.strdisplaywidth(text) > room then
      require('vim.lsp.log').warn('tark', text)
      text = vim.fn.printf('%.' .. room - 1 .. 'S…', text)
    end
  end
  local shortmess = vim.o.shortmess
  vim.opt.shortmess:append('T')
  vim.cmd.redraw()
  vim.cmd.echohl(level >= vim.log.levels.WARN and 'WarningMsg' or 'None')
  vim.cmd.echomsg(vim.fn.string(text))
  vim.cmd.echohl('None')
  vim.o.shortmess = shortmess
end

---@param text string
---@param level integer
local function once_it_can_be_seen(text, level)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  if vim.api.nvim_get_mode().mode:match('^c') then -- not over the command line that is being typed
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

---May be called from anywhere, also from fast events. The same text within a second is told once.
---@param message string
---@param level? integer of vim.log.levels
function M.say(message, level)
  local text = 'Tark: ' .. vim.trim((message:gsub('%s+', ' ')))
  local now = vim.uv.now()
  for each, at in pairs(told) do
    told[each] = now - at < REPEATED_MS and at or nil
  end
  if not told[text] then
    told[text] = now
    vim.schedule(function()
      once_it_can_be_seen(text, level or vim.log.levels.INFO)
    end)
  end
end

---@param message string
function M.warn(message)
  M.say(message, vim.log.levels.WARN)
end

---A fault of ours: told in a line, the stack in the log of the language client.
---@param traceback any as debug.traceback() gives it, which leaves errors that are no strings as they are
function M.bug(traceback)
  traceback = type(traceback) == 'string' and traceback or vim.inspect(traceback)
  require('vim.lsp.log').error('tark', traceback)
  M.warn('something went wrong here: ' .. traceback:match('[^\n]*') .. ' (the log has more: :checkhealth vim.lsp)')
end

return M
