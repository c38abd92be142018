---What the user does with MCP servers and hooks: add, approve, switch, restart, show the log, remove, trust the folder.
local notify = require('tark.notify')
local offer = require('tark.mcp.offer')
local request = require('tark.pickers.request')
local visible = require('tark.visible')

local M = {}

local WHERE = {
  { 'in the sandbox, without network: it reads the workspace, writes nothing', { sandbox = true, network = false } },
  { 'in the sandbox, with network: for services, and for npx and uvx', { sandbox = true, network = true } },
  { 'without a sandbox: it can read and write everything that you can', { sandbox = false, network = false } },
}

---@param items any[]
---@param prompt string
---@param format fun(item: any): string
---@param done fun(item: any)
local function choose(items, prompt, format, done)
  vim.ui.select(items, { prompt = prompt, kind = 'tark_mcp', format_item = format }, function(item)
    if item then
      done(item)
    end
  end)
end

---@param command string
---@param name string
---@param digest string
local function store(command, name, digest)
  request(command, { name = name, digest = digest }, function()
    notify.info('approved: ' .. name)
  end)
end

---Shows why the server failed, what it wrote, and a way to try again.
---@param name string
---@param title string
---@param text string
---@param problem string
local function show_failure(name, title, text, problem)
  request('tark.mcp.log', { name = name }, function(log)
    offer.show({
      title = title,
      text = ('%s\n%s\n\n%s'):format(text, problem, log.text),
      is_diff = false,
      yes = {
        'starts it again',
        function()
          M.approve('server', name)
        end,
      },
    })
  end)
end

---@param name string
---@param title string
---@param shown table the answer of `tark.mcp.show`
local function inspect(name, title, shown)
  notify.info(('%s starts, to list its tools'):format(title))
  request('tark.mcp.inspect', { name = name, digest = shown.digest }, function(listed)
    local label = listed.isDiff and 'approves these changes'
      or listed.tools == 1 and 'approves this tool'
      or ('approves these %d tools'):format(listed.tools)
    offer.show({
      title = title,
      text = ('%s\n%s'):format(shown.text, listed.text),
      is_diff = listed.isDiff,
      yes = listed.differs and {
        label,
        function()
          store('tark.mcp.approve', name, listed.digest)
        end,
      } or nil,
    })
  end, function(problem)
    show_failure(name, title, shown.text, problem)
  end)
end

---@param kind 'server'|'hook'
---@param name string
---@param title string
---@param shown table
local function show(kind, name, title, shown)
  local whole = { title = title, text = shown.text, is_diff = shown.isDiff }
  if kind == 'server' and shown.approved then
    return inspect(name, title, shown)
  elseif kind == 'server' then
    whole.yes = {
      'starts it, to see its tools',
      function()
        inspect(name, title, shown)
      end,
    }
  elseif not shown.approved then
    whole.yes = {
      'approves this hook',
      function()
        store('tark.hooks.approve', name, shown.digest)
      end,
    }
  end
  offer.show(whole)
end

---Asks the user whether they trust the folder, unless it is already trusted.
---@param done fun()
function M.trust(done)
  request('tark.mcp.list', {}, function(listed)
    if listed.trusted then
      return done()
    elseif not listed.canTrust then
      return notify.warn('your settings say that you do not trust this folder (workspaceTrusted)')
    end
    choose({ 'Trust', 'Not Now' }, 'Do you trust this folder? Then programs run in it:', tostring, function(answer)
      if answer == 'Trust' then
        request('tark.permissions.trust', {}, function(answered)
          if answered.trusted then
            done()
          end
        end)
      end
    end)
  end)
end

---Shows a server or hook in full, for approval.
---@param kind 'server'|'hook'
---@param name string
function M.approve(kind, name)
  local title = (kind == 'server' and 'MCP server ' or 'Hook ') .. name
  M.trust(function()
    request(kind == 'server' and 'tark.mcp.show' or 'tark.hooks.show', { name = name }, function(shown)
      show(kind, name, title, shown)
    end)
  end)
end

---Adds a server to config.toml, then shows it for approval.
---@param refused? string What you typed before, if it was refused, so that you can correct it.
---@param reason? string Why it was refused: a message would be hidden by the prompt.
function M.add(refused, reason)
  local prompt = (reason and visible.line(reason) .. '. ' or '') .. 'Command line or URL of the MCP server: '
  vim.ui.input({ prompt = prompt, default = refused }, function(run)
    if not run or vim.trim(run) == '' then
      return
    end
    local function add(where)
      request('tark.mcp.add', vim.tbl_extend('force', { run = run }, where or {}), function(added)
        M.approve('server', added.name)
      end, function(problem)
        M.add(run, problem)
      end)
    end
    if run:match('^%s*https?://') then
      return add()
    end
    choose(WHERE, 'Where does it run?', function(item)
      return item[1]
    end, function(item)
      add(item[2])
    end)
  end)
end

---@param row tark.McpRow
function M.switch(row)
  if row.is_on == nil then
    return notify.info('this has no switch: only what you approved can be switched')
  end
  request('tark.mcp.switch', { name = row.name, tool = row.tool, on = not row.is_on }, function() end)
end

---@param row tark.McpRow
function M.restart(row)
  request('tark.mcp.restart', { name = row.name }, function() end)
end

---@param row tark.McpRow
function M.log(row)
  request('tark.mcp.log', { name = row.name }, function(answer)
    offer.show({ title = 'Log of ' .. row.name, text = answer.text, is_diff = false })
  end)
end

---@param row tark.McpRow
function M.remove(row)
  local question = row.origin == 'project' and 'Forget your approval of %s?' or 'Remove %s, and your approval of it?'
  choose({ 'Yes', 'No' }, question:format(visible.line(row.name)), tostring, function(answer)
    if answer ~= 'Yes' then
      return
    end
    local command = row.kind == 'hook' and 'tark.hooks.remove' or 'tark.mcp.remove'
    request(command, { name = row.name }, function(removed)
      local left = removed.left ~= '' and ('; its configuration stays in %s'):format(removed.left) or ''
      notify.info(('removed: %s%s'):format(row.name, left))
    end)
  end)
end

return M
