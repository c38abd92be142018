---Chooses the custom agent of a session. An agent of the project must be shown in full and approved before it can be
---chosen.
local completion = require('tark.commands.completion')
local figures = require('tark.figures')
local notify = require('tark.notify')
local offer = require('tark.mcp.offer')
local request = require('tark.pickers.request')
local settings = require('tark.pickers.settings')
local state = require('tark.state')
local visible = require('tark.visible')

local M = {}

local NONE = { name = 'none', description = 'what the session has', origin = 'user', reason = '' }

---@param agent table of `tark.agents.list`
---@param done fun()
local function approve(agent, done)
  request('tark.agents.show', { name = agent.name }, function(shown)
    local function approved()
      request('tark.agents.approve', { name = agent.name, digest = shown.digest }, done)
    end
    local yes = { 'approves this agent', approved }
    offer.show({ title = 'Agent ' .. agent.name, text = shown.text, is_diff = shown.isDiff, yes = yes })
  end)
end

---@param agent table
---@param new_sessions? boolean
local function choose(agent, new_sessions)
  local function set()
    settings.set('agent', agent.name, new_sessions)
  end
  if agent.reason == '' then
    return set()
  end
  approve(agent, set)
end

---@param agent table
---@param current string
---@return string
local function row(agent, current)
  return visible.line(
    figures.join(
      agent.name,
      agent.name == current and 'current' or nil,
      agent.origin == 'project' and 'of this project' or nil,
      agent.reason ~= '' and agent.reason or nil,
      agent.description ~= '' and agent.description or nil
    )
  )
end

---@param options? tark.SettingOptions
function M.choose(options)
  options = options or {}
  local wanted = (options.name or ''):lower()
  request('tark.agents.list', {}, function(listed, server_state)
    completion.cache_agents(server_state, listed.agents)
    for _, problem in ipairs(listed.problems) do
      notify.warn(problem)
    end
    local agents = vim.list_extend({ NONE }, listed.agents)
    if wanted ~= '' then
      for _, agent in ipairs(agents) do
        if agent.name == wanted then
          return choose(agent, options.new_sessions)
        end
      end
      return notify.warn(('there is no agent %s (see docs/agents.md)'):format(options.name))
    elseif #listed.agents == 0 then
      return notify.info('there are no agents: docs/agents.md shows how to write one')
    end
    local session = not options.new_sessions and state.current_session(server_state) or {}
    local current = session.agent or server_state.settings.agent or 'none'
    local function format(agent)
      return row(agent, current)
    end
    vim.ui.select(agents, { prompt = 'Agent:', kind = 'tark_agent', format_item = format }, function(agent)
      if agent then
        choose(agent, options.new_sessions)
      end
    end)
  end)
end

---@param lead string the word before the cursor
---@return string[]
function M.complete(lead)
  return completion.matching(vim.list_extend({ 'none' }, completion.agents()), lead)
end

return M
