---The line above the chat: what the session is called, its model and mode, what goes on, how full the context is.
local M = {}

local LEAST_TITLE = 12

---@param known? tark.State
---@param columns? integer that there are: the title is shortened, since its beginning says which session it is
---@return string
function M.text(known, columns)
  if not known then
    return 'Tark'
  end
  local session, talk = require('tark.state').current(known)
  local running, queued, used = 0, 0, nil
  for _, turn in ipairs(talk.turns) do
    running = running + (turn.state == 'running' and 1 or 0)
    queued = queued + (turn.state == 'queued' and 1 or 0)
    local usage = turn.usage or {}
    if usage.contextUsed and usage.contextWindow then
      used = ('%d%% of context'):format(usage.contextUsed * 100 / math.max(1, usage.contextWindow))
    end
  end
  local status = not known.alive and 'no server'
    or #known.permissions + #known.inputs > 0 and 'waits for you'
    or running > 0 and 'working'
    or nil
  local parts = {}
  local defaults = known.settings
  for _, part in ipairs({
    session.model or defaults.model or false,
    session.mode or defaults.mode or false,
    status or false,
    queued > 0 and queued .. ' queued' or false,
    used or false,
  }) do
    if type(part) == 'string' and part ~= '' then
      table.insert(parts, (require('tark.chat.text').one_line(part)))
    end
  end
  local rest = table.concat(parts, ' · ')
  local title = require('tark.chat.text').one_line(session.title or 'New session')
  local room = math.max((columns or math.huge) - vim.api.nvim_strwidth(rest) - 4, LEAST_TITLE)
  if vim.api.nvim_strwidth(title) > room then
    title = vim.fn.printf(('%%.%dS…'):format(room - 1), title)
  end
  return rest == '' and title or title .. ' · ' .. rest
end

---@param window integer
---@param words string
local function set(window, words)
  words = words:gsub('%%', '%%%%')
  words = words ~= '' and ' ' .. words or ''
  if vim.wo[window].winbar ~= words then
    vim.wo[window][0].winbar = words
  end
end

---@param known? tark.State
---@param is_edit boolean
function M.draw(known, is_edit)
  local layout = require('tark.chat.layout')
  for _, tabpage in ipairs(vim.api.nvim_list_tabpages()) do
    local transcript, prompt = layout.window('transcript', tabpage), layout.window('prompt', tabpage)
    if transcript then
      set(transcript, M.text(known, vim.api.nvim_win_get_width(transcript)))
    end
    if prompt then
      set(prompt, is_edit and 'Edits an earlier prompt, in a new session (empty it to leave)' or '')
    end
  end
end

return M
