---Which model a session has, and what it may do: its mode and its approval level.
local figures = require('tark.figures')
local notify = require('tark.notify')
local server = require('tark.server')

local M = {}

---@class tark.SettingOptions
---@field name? string nil or '': a list to choose from
---@field new_sessions? boolean of the sessions to come, not of this one

---What each mode and level means, in the order of how much is done unasked.
M.levels = {
  { name = 'ask', setting = 'mode', means = 'answers in words, changes nothing' },
  { name = 'plan', setting = 'mode', means = 'explores and plans, changes nothing' },
  { name = 'build', setting = 'mode', means = 'reads, changes, runs commands' },
  { name = 'manual', setting = 'approval', means = 'asks before every edit and command, whatever else is set' },
  { name = 'careful', setting = 'approval', means = 'asks before edits and commands' },
  { name = 'balanced', setting = 'approval', means = 'applies edits at once, to be reviewed after' },
}

---@param setting 'model'|'mode'|'approval'
---@param value string
---@param new_sessions? boolean
local function set(setting, value, new_sessions)
  server.ask('tark.settings.set', function(known)
    return { [setting] = value, sessionId = not new_sessions and known.session_id or nil }
  end, function(answer, known)
    local session_id = not new_sessions and known.session_id or nil
    require('tark.updates').set(known, session_id, answer)
    notify.say(('%s of %s is %s'):format(setting, session_id and 'this session' or 'new sessions', answer[setting]))
  end)
end

---@param model table
---@return string
local function model_row(model)
  local price = model.price
  local window = model.contextWindow
  local input, output = price and price.input, price and price.output
  return figures.row(
    model.id,
    model.name ~= model.id and model.name or nil,
    window and figures.short(window) .. ' window' or nil,
    input and output and ('$%s in, $%s out for 1M tokens'):format(input, output) or nil
  )
end

---@param options? tark.SettingOptions
function M.model(options)
  options = options or {}
  if (options.name or '') ~= '' then
    return set('model', options.name, options.new_sessions)
  end
  server.ask('tark.models.list', {}, function(answer, known)
    require('tark.completion').keep_models(known, answer.models)
    for _, problem in ipairs(answer.problems) do
      notify.warn(problem)
    end
    if #answer.models == 0 then
      return notify.say('no provider has told of a model: :TarkLogin gives one a key')
    end
    vim.ui.select(answer.models, { prompt = 'Model:', kind = 'tark_model', format_item = model_row }, function(model)
      if model then
        set('model', model.id, options.new_sessions)
      end
    end)
  end)
end

---Mode or approval level: all their names are different.
---@param options? tark.SettingOptions
function M.mode(options)
  options = options or {}
  local function take(level)
    if level then
      set(level.setting, level.name, options.new_sessions)
    end
  end
  if (options.name or '') == '' then
    return vim.ui.select(M.levels, {
      prompt = 'Mode, or approval level:',
      kind = 'tark_mode',
      format_item = function(level)
        return ('%s %s: %s'):format(level.setting, level.name, level.means)
      end,
    }, take)
  end
  for _, level in ipairs(M.levels) do
    if level.name == options.name then
      return take(level)
    end
  end
  notify.warn(
    ('%s is no mode (ask, plan, build) and no approval level (manual, careful, balanced)'):format(options.name)
  )
end

return M
