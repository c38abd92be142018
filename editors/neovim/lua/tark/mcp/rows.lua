---The lines of the list of MCP servers and hooks, and their texts. Pure.
local figures = require('tark.figures')
local visible = require('tark.visible')

local M = {}

---@class tark.McpRow
---@field kind 'head'|'note'|'server'|'tool'|'hook'|'problem'
---@field name string of the server or hook
---@field tool? string
---@field state string
---@field origin? string 'user', 'editor' or 'project'
---@field is_on? boolean the state of its switch; nil: it has none
---@field text string
---@field group string the highlight group of its sign

---@class tark.Unanswered
---@field kind 'server'|'hook'
---@field name string
---@field changed boolean

---State -> its sign, its text, its highlight group.
local STATES = {
  off = { '-', 'off', 'TarkFaint' },
  waiting = { '?', 'waits for your approval', 'TarkToolWaiting' },
  changed = { '!', 'changed, off until you approve it', 'TarkToolWaiting' },
  stopped = { '○', 'not started yet', 'TarkFaint' },
  starting = { '…', 'starting', 'TarkToolRunning' },
  running = { '✓', 'running', 'TarkToolDone' },
  failed = { '✗', 'failed', 'TarkToolFailed' },
  needsLogin = { '?', 'needs login', 'TarkToolWaiting' },
  approved = { '✓', 'approved', 'TarkToolDone' },
}
local TOOL_STATES = {
  on = { '✓', nil, 'TarkToolDone' },
  off = { '-', 'off', 'TarkFaint' },
  changed = { '!', 'changed, off until you approve it', 'TarkToolWaiting' },
  new = { '!', 'new, off until you approve it', 'TarkToolWaiting' },
  gone = { '-', 'the server no longer has it', 'TarkFaint' },
}
---States whose text already says what their reason says.
local SELF_EVIDENT = { waiting = true, changed = true }
local LONGEST = 120

M.HINT = '<CR> approve, unfold · x switch · r restart · l log · o add · dd remove · q close'
M.NO_TRUST = 'You do not trust this folder. So no server starts in it, and what it offers is not read.'

---@param server table
---@return string? '2 of 3 tools'
local function tools_of(server)
  if #server.tools == 0 then
    return nil
  end
  local on = #vim.tbl_filter(function(tool)
    return tool.state == 'on'
  end, server.tools)
  local all = figures.counted(#server.tools, 'tool')
  return on < #server.tools and ('%d of %s'):format(on, all) or all
end

---@param sign string
---@param ... string?
---@return string
local function line(sign, ...)
  return visible.line(('%s %s'):format(sign, figures.join(...)))
end

---@param server table
---@param tool table
---@return tark.McpRow
local function tool_row(server, tool)
  local sign, words, group = unpack(TOOL_STATES[tool.state] or { '?', tool.state, 'TarkFaint' }, 1, 3)
  local is_switch = (tool.state == 'on' or tool.state == 'off') and tool.reason == ''
  local description = visible.short(tool.description, LONGEST)
  return {
    kind = 'tool',
    name = server.name,
    tool = tool.name,
    state = tool.state,
    is_on = is_switch and tool.state == 'on' or (not is_switch and nil),
    text = '    ' .. line(sign, tool.name, words, tool.reason, description),
    group = group,
  }
end

---@param server table
---@return tark.McpRow
local function server_row(server)
  local sign, words, group = unpack(STATES[server.state] or { '?', server.state, 'TarkFaint' })
  local reason = not SELF_EVIDENT[server.state] and server.reason or nil
  local by_settings = vim.startswith(server.reason, 'its settings')
  local has_switch = #server.tools > 0 and server.state ~= 'waiting' and server.state ~= 'failed' and not by_settings
  local is_on
  if has_switch then
    is_on = server.state ~= 'off'
  end
  local unconfined = server.unconfined ~= '' and 'without a sandbox' or nil
  return {
    kind = 'server',
    name = server.name,
    state = server.state,
    origin = server.origin,
    is_on = is_on,
    text = line(sign, server.name, words, reason, tools_of(server), unconfined, server.runs),
    group = group,
  }
end

---@param hook table
---@return tark.McpRow
local function hook_row(hook)
  local sign, words, group = unpack(STATES[hook.state] or { '?', hook.state, 'TarkFaint' })
  local reason = not SELF_EVIDENT[hook.state] and hook.reason or nil
  local is_own = hook.origin == 'user' and hook.state == 'approved'
  return {
    kind = 'hook',
    name = hook.name,
    state = hook.state,
    origin = hook.origin,
    text = line(sign, hook.name, 'hook, ' .. hook.on, is_own and 'yours' or words, reason, hook.runs),
    group = group,
  }
end

---@param text string
---@param group? string
---@param kind? 'head'|'note'|'problem'
---@return tark.McpRow
local function plain(text, group, kind)
  return { kind = kind or 'note', name = '', state = '', text = visible.line(text), group = group or 'TarkFaint' }
end

---@param servers table the answer of `tark.mcp.list`
---@param hooks table the answer of `tark.hooks.list`
---@param unfolded table<string, true> names of servers whose tools are shown
---@return tark.McpRow[]
function M.of(servers, hooks, unfolded)
  local rows = { plain(M.HINT, 'TarkKey', 'head') }
  if not servers.trusted then
    table.insert(rows, plain(M.NO_TRUST .. (servers.canTrust and ' t trusts it.' or ''), 'TarkWarning'))
  end
  for _, server in ipairs(servers.servers) do
    table.insert(rows, server_row(server))
    for _, tool in ipairs(unfolded[server.name] and server.tools or {}) do
      table.insert(rows, tool_row(server, tool))
    end
  end
  for _, hook in ipairs(hooks.hooks) do
    table.insert(rows, hook_row(hook))
  end
  for _, problem in ipairs(vim.list_extend(vim.list_extend({}, servers.problems), hooks.problems)) do
    table.insert(rows, plain(problem, 'TarkWarning', 'problem'))
  end
  if #servers.servers == 0 and #hooks.hooks == 0 then
    table.insert(rows, plain('There are no MCP servers and no hooks. o adds a server.'))
  end
  return rows
end

---One sentence about servers and hooks that the user was not told about before.
---@param unanswered tark.Unanswered[]
---@return string
function M.news(unanswered)
  local first = unanswered[1]
  if #unanswered == 1 then
    local what = (first.kind == 'server' and 'the MCP server ' or 'the hook ') .. first.name
    return what .. (first.changed and ' changed since you approved it, so it is off' or ' waits for your approval')
  end
  local parts = {}
  for kind, noun in vim.spairs({ server = 'MCP server', hook = 'hook' }) do
    local number = #vim.tbl_filter(function(each)
      return each.kind == kind
    end, unanswered)
    if number > 0 then
      table.insert(parts, figures.counted(number, noun))
    end
  end
  return table.concat(parts, ' and ') .. ' wait for your approval'
end

return M
