---How things stand, in a small window: what `:TarkStatus` shows.
local figures = require('tark.figures')
local state = require('tark.state')

local M = {}

---@param number integer
---@param what string
local function count(number, what)
  return number > 0 and ('%d %s%s'):format(number, what, number == 1 and '' or 's') or nil
end

---@param lines string[]
local function show(lines)
  vim.lsp.util.open_floating_preview(lines, 'text', {
    border = require('tark.float').border(),
    title = ' Tark ',
    focus = false, -- a second one takes the place of the first
    wrap = true,
  })
end

---@param client vim.lsp.Client
---@param known tark.State
---@param usage? table the total of `tark.usage`
---@return string[]
local function report(client, known, usage)
  local session = state.current(known)
  local settings = vim.tbl_extend('force', known.settings, session)
  local data = require('tark.status').data()
  local unended = state.unended(known)
  local running, queued = #unended.running, #unended.queued
  local hunks, files = 0, vim.tbl_count(known.hunks)
  for _, document in pairs(known.hunks) do
    hunks = hunks + #document.hunks
  end
  local info = client.server_info or {}
  local lines = {}
  local function add(name, text)
    if text and text ~= '' then
      table.insert(lines, ('%-9s%s'):format(name, (text:gsub('%c', ' '))))
    end
  end
  add('server', figures.row(('%s %s'):format(info.name or 'tark_lsp', info.version or ''), client.root_dir))
  add('session', known.session_id and (session.title or known.session_id) or 'none yet')
  add('model', settings.model or 'the first with a key')
  add('mode', figures.row(settings.mode, settings.approval and 'approval ' .. settings.approval))
  add('turns', figures.row(running > 0 and running .. ' running' or nil, queued > 0 and queued .. ' queued' or nil))
  add('waiting', figures.row(count(#known.permissions, 'permission'), count(#known.inputs, 'question')))
  add('hunks', hunks > 0 and ('%s in %s'):format(count(hunks, 'hunk'), count(files, 'file')) or nil)
  if usage and usage.requests > 0 then
    local input, cached = figures.short(usage.inputTokens), figures.short(usage.cachedTokens)
    local tokens = ('%s tokens in (%s cached), %s out'):format(input, cached, figures.short(usage.outputTokens))
    add('usage', figures.row(count(usage.requests, 'request'), tokens, figures.money(usage.costUsd)))
  end
  if data.contextUsed and data.contextUsed > 0 then
    local window = data.contextWindow
    local share = window and (' of %s (%d %%)'):format(figures.short(window), data.contextUsed * 100 / window) or ''
    add('context', figures.short(data.contextUsed) .. share)
  end
  return lines
end

function M.show()
  local server = require('tark.server')
  local client = server.client()
  if not client or not client.initialized then
    return show({ 'No server runs: it starts with the first file or command.', ':checkhealth tark looks at it.' })
  end
  local known = state.of(client.id)
  if not known.session_id then
    return show(report(client, known))
  end
  server.command(client, 'tark.usage', { sessionId = known.session_id }, function(_, answer)
    show(report(client, known, answer and answer.total))
  end)
end

return M
