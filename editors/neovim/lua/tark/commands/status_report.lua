---`:TarkStatus`: shows server, session, turns and usage in a small window.
local clients = require('tark.server.clients')
local figures = require('tark.figures')
local float = require('tark.float')
local requests = require('tark.server.requests')
local state = require('tark.state')
local status = require('tark.status')
local visible = require('tark.visible')

local M = {}

---@param number integer
---@param noun string
---@return string? nil: there are none
local function count(number, noun)
  return number > 0 and figures.counted(number, noun) or nil
end

---@param lines string[]
local function show(lines)
  float.show(lines, 'Tark')
end

---@param client vim.lsp.Client
---@param server_state tark.State
---@param usage? table the total of `tark.usage`
---@return string[]
local function report(client, server_state, usage)
  local session = state.current_session(server_state)
  local settings = state.used_settings(server_state)
  local data = status.data()
  local unended = state.unended_turns(server_state)
  local running, queued = #unended.running, #unended.queued
  local hunks, files = 0, vim.tbl_count(server_state.hunks)
  for _, document in pairs(server_state.hunks) do
    hunks = hunks + #document.hunks
  end
  local info = client.server_info or {}
  local lines = {}
  local function add(name, text)
    if text and text ~= '' then
      table.insert(lines, ('%-9s%s'):format(name, visible.line(text)))
    end
  end
  add('server', figures.join(('%s %s'):format(info.name or 'tark_lsp', info.version or ''), client.root_dir))
  add('session', server_state.session_id and (session.title or server_state.session_id) or 'none yet')
  add('model', settings.model or 'the first with a key')
  add('agent', settings.agent)
  add('mode', figures.join(settings.mode, settings.approval and 'approval ' .. settings.approval))
  add('turns', figures.join(running > 0 and running .. ' running' or nil, queued > 0 and queued .. ' queued' or nil))
  add('waiting', figures.join(count(#server_state.permissions, 'permission'), count(#server_state.inputs, 'question')))
  add('hunks', hunks > 0 and ('%s in %s'):format(count(hunks, 'hunk'), count(files, 'file')) or nil)
  if usage and usage.requests > 0 then
    local input, cached = figures.short_number(usage.inputTokens), figures.short_number(usage.cachedTokens)
    local tokens = ('%s tokens in (%s cached), %s out'):format(input, cached, figures.short_number(usage.outputTokens))
    add('usage', figures.join(count(usage.requests, 'request'), tokens, figures.money(usage.costUsd)))
  end
  if data.contextUsed and data.contextUsed > 0 then
    local window = data.contextWindow
    local share = window and (' of %s (%d %%)'):format(figures.short_number(window), data.contextUsed * 100 / window)
      or ''
    add('context', figures.short_number(data.contextUsed) .. share)
  end
  return lines
end

function M.show()
  local client = clients.for_buffer()
  if not client or not client.initialized then
    return show({ 'No server runs: it starts with the first file or command.', 'Run :checkhealth tark.' })
  end
  local server_state = state.of_client(client.id)
  if not server_state.session_id then
    return show(report(client, server_state))
  end
  requests.send_command(client, 'tark.usage', { sessionId = server_state.session_id }, function(_, answer)
    show(report(client, server_state, answer and answer.total))
  end)
end

return M
