---The lines above the chat's windows. Above the transcript: title, model, agent and mode of the session, its status,
---and how full the context is. Above the prompt: a hint about the prompt.
local layout = require('tark.chat.layout')
local state = require('tark.state')
local text = require('tark.chat.text')
local visible = require('tark.visible')

local M = {}

local LEAST_TITLE = 12
local CUT_END = '%<'

---@param server_state? tark.State
---@param columns? integer width: a longer title is shortened at its end
---@return string
function M.text(server_state, columns)
  if not server_state then
    return 'Tark'
  end
  local session, transcript = state.current_session(server_state)
  local running, queued, used = 0, 0, nil
  for _, turn in ipairs(transcript.turns) do
    running = running + (turn.state == 'running' and 1 or 0)
    queued = queued + (turn.state == 'queued' and 1 or 0)
    local usage = turn.usage or {}
    if usage.contextUsed and usage.contextWindow then
      used = ('%d%% of context'):format(usage.contextUsed * 100 / math.max(1, usage.contextWindow))
    end
  end
  local status = not server_state.alive and 'no server'
    or #server_state.permissions + #server_state.inputs > 0 and 'waits for you'
    or running > 0 and 'working'
    or nil
  local parts = {}
  local settings = state.used_settings(server_state)
  for _, part in ipairs({
    settings.model or false,
    settings.agent and 'agent ' .. settings.agent or false,
    settings.mode or false,
    status or false,
    queued > 0 and queued .. ' queued' or false,
    used or false,
  }) do
    if type(part) == 'string' and part ~= '' then
      table.insert(parts, (text.one_line(part)))
    end
  end
  local rest = table.concat(parts, ' · ')
  local title = text.one_line(session.title or 'New session')
  local room = math.max((columns or math.huge) - vim.api.nvim_strwidth(rest) - 4, LEAST_TITLE)
  if vim.api.nvim_strwidth(title) > room then
    title = vim.fn.printf(('%%.%dS…'):format(room - 1), title)
  end
  return rest == '' and title or title .. ' · ' .. rest
end

---@param window integer
---@param line string
---@param cut? string CUT_END: if it is too long, its beginning stays
local function set_winbar(window, line, cut)
  line = line ~= '' and ' ' .. visible.winbar(line) .. (cut or '') or ''
  if vim.wo[window].winbar ~= line then
    vim.wo[window][0].winbar = line
  end
end

---@param server_state? tark.State
---@param above_prompt string
function M.draw(server_state, above_prompt)
  for _, tabpage in ipairs(vim.api.nvim_list_tabpages()) do
    local transcript, prompt = layout.window('transcript', tabpage), layout.window('prompt', tabpage)
    if transcript then
      set_winbar(transcript, M.text(server_state, vim.api.nvim_win_get_width(transcript)))
    end
    if prompt then
      set_winbar(prompt, text.one_line(above_prompt), CUT_END)
    end
  end
end

return M
