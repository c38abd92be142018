---Sets the model of a session, its mode and its approval level.
local completion = require('tark.commands.completion')
local figures = require('tark.figures')
local notify = require('tark.notify')
local request = require('tark.pickers.request')
local sessions = require('tark.state.sessions')
local state = require('tark.state')
local visible = require('tark.visible')

local M = {}

---@class tark.SettingOptions
---@field name? string nil or '': the user chooses from a list
---@field new_sessions? boolean for new sessions, not for the current one

---What each mode and level means, ordered by how much is done without asking.
M.levels = {
  { name = 'ask', setting = 'mode', means = 'answers questions, changes nothing' },
  { name = 'plan', setting = 'mode', means = 'explores and plans, changes nothing' },
  { name = 'build', setting = 'mode', means = 'reads, changes, runs commands' },
  { name = 'manual', setting = 'approval', means = 'asks before every edit and command, regardless of other settings' },
  {
    name = 'careful',
    setting = 'approval',
    means = 'applies edits at once, for review; asks before commands that can write',
  },
  { name = 'balanced', setting = 'approval', means = 'also runs ordinary commands in the sandbox unasked' },
}

---@param setting 'model'|'mode'|'approval'|'agent'
---@param value string
---@param new_sessions? boolean
---@param warning? string shown after it, because the last message is the one on the screen
local function set_setting(setting, value, new_sessions, warning)
  request('tark.settings.set', function(server_state)
    return { [setting] = value, sessionId = not new_sessions and server_state.session_id or nil }
  end, function(answer, server_state)
    local session_id = not new_sessions and server_state.session_id or nil
    sessions.set_fields(server_state, session_id, answer)
    local of, now = session_id and 'this session' or 'new sessions', answer[setting] or 'none'
    notify.info(('%s of %s is %s'):format(setting, of, now))
    if warning then
      notify.warn(warning)
    end
  end)
end

M.set = set_setting

---@param server_state tark.State
---@param new_sessions? boolean
---@return string? model
local function current_model(server_state, new_sessions)
  local session = not new_sessions and state.current_session(server_state) or {}
  return session.model or server_state.settings.model
end

---@param model table
---@param is_current boolean
---@return string
local function model_row(model, is_current)
  local price = model.price
  local window = model.contextWindow
  local input, output = price and price.input, price and price.output
  return visible.line(
    figures.join(
      model.id,
      model.name ~= model.id and model.name or nil,
      is_current and 'current' or nil,
      window and figures.short_number(window) .. ' window' or nil,
      input and output and ('$%s in, $%s out for 1M tokens'):format(input, output) or nil
    )
  )
end

---@param name string
---@param new_sessions? boolean
local function set_model(name, new_sessions)
  request('tark.models.check', { model = name }, function(answer)
    if answer.listed ~= false then
      return set_setting('model', name, new_sessions, answer.message ~= '' and answer.message or nil)
    end
    local choices = vim.list_extend({}, answer.near)
    table.insert(choices, ('use %s anyway'):format(name))
    local options = { prompt = visible.line(('%s is not listed. Model:'):format(name)), kind = 'tark_model' }
    vim.ui.select(choices, options, function(choice, index)
      if index == #choices then
        set_setting('model', name, new_sessions)
      elseif choice then
        set_setting('model', choice, new_sessions)
      end
    end)
  end)
end

---@param options? tark.SettingOptions
function M.choose_model(options)
  options = options or {}
  if (options.name or '') ~= '' then
    return set_model(options.name, options.new_sessions)
  end
  request('tark.models.list', {}, function(answer, server_state)
    completion.cache_models(server_state, answer.models)
    for _, problem in ipairs(answer.problems) do
      notify.warn(problem)
    end
    if #answer.models == 0 then
      return notify.info('no provider has listed a model: set a key with :TarkLogin')
    end
    local current = current_model(server_state, options.new_sessions)
    local function row(model)
      return model_row(model, model.id == current)
    end
    vim.ui.select(answer.models, { prompt = 'Model:', kind = 'tark_model', format_item = row }, function(model)
      if model then
        set_setting('model', model.id, options.new_sessions)
      end
    end)
  end)
end

---@param lead string the word before the cursor
---@return string[] names of modes and levels
function M.complete_mode(lead)
  local names = vim.tbl_map(function(level)
    return level.name
  end, M.levels)
  return completion.matching(names, lead)
end

---@param lead string the word before the cursor
---@return string[]
function M.complete_model(lead)
  return completion.matching(completion.models(), lead)
end

---Mode or approval level: no mode has the name of a level.
---@param options? tark.SettingOptions
function M.choose_mode(options)
  options = options or {}
  local function set_level(level)
    if level then
      set_setting(level.setting, level.name, options.new_sessions)
    end
  end
  if (options.name or '') == '' then
    return vim.ui.select(M.levels, {
      prompt = 'Mode, or approval level:',
      kind = 'tark_mode',
      format_item = function(level)
        return ('%s %s: %s'):format(level.setting, level.name, level.means)
      end,
    }, set_level)
  end
  for _, level in ipairs(M.levels) do
    if level.name == options.name then
      return set_level(level)
    end
  end
  notify.warn(
    ('%s is not a mode (ask, plan, build) or approval level (manual, careful, balanced)'):format(options.name)
  )
end

return M
