---The sessions of the workspace in a list, and what can be done with the one that is chosen.
local figures = require('tark.figures')
local notify = require('tark.notify')
local server = require('tark.server')
local updates = require('tark.updates')

local M = {}

---@param known tark.State
---@param session_id? string nil: the next turn begins a new one
local function go_on_with(known, session_id)
  updates.go_on_with(known, session_id)
  require('tark.chat').show({ focus = true })
end

---@param session table
---@param known tark.State
local function open(session, known)
  require('tark.sessions').open(known, session.sessionId, function(problem)
    if problem then
      return notify.warn(problem)
    end
    go_on_with(known, session.sessionId)
  end)
end

---@param session table
local function rename(session)
  vim.ui.input({ prompt = 'Title: ', default = session.title }, function(title)
    if title and vim.trim(title) ~= '' then
      server.ask('tark.session.rename', { sessionId = session.sessionId, title = title }, function(answer)
        notify.say(('the session is called %s'):format(answer.title))
      end)
    end
  end)
end

---@param session table
local function delete(session)
  local choices = { 'Keep it', 'Delete it' }
  local prompt = ('Delete the session %s?'):format(session.title)
  vim.ui.select(choices, { prompt = prompt, kind = 'tark_delete_session' }, function(choice)
    if choice ~= choices[2] then
      return
    end
    server.ask('tark.session.delete', { sessionId = session.sessionId }, function(_, known)
      updates.forgotten(known, session.sessionId)
      notify.say(('deleted the session %s'):format(session.title))
    end)
  end)
end

---@param session table
local function fork(session)
  server.ask('tark.session.fork', { sessionId = session.sessionId }, open)
end

---@param session table
local function export(session)
  server.ask('tark.session.export', { sessionId = session.sessionId }, function(answer)
    notify.say(('exported to %s'):format(vim.fn.fnamemodify(answer.path, ':~')))
  end)
end

---@type table<string, fun(session: table, known: tark.State)>
M.actions = { open = open, rename = rename, delete = delete, fork = fork, export = export }

---@param session table
---@param known tark.State
---@return string
local function row(session, known)
  local turns = ('%d turn%s'):format(session.turns, session.turns == 1 and '' or 's')
  return figures.row(
    session.title ~= '' and session.title or '(no title)',
    session.sessionId == known.session_id and 'current' or nil,
    figures.age(session.updated),
    turns,
    session.model,
    figures.money(session.costUsd),
    session.readOnly and 'read-only' or nil
  )
end

---@param options? { action?: string, all?: boolean } action: open (default), new, rename, delete, fork, export
function M.choose(options)
  options = options or {}
  local name = (options.action or '') ~= '' and options.action or 'open'
  local action = M.actions[name]
  if not action and name ~= 'new' then
    return notify.warn(
      ('%s is nothing that is done with sessions: open, new, rename, delete, fork, export'):format(name)
    )
  end
  server.ask('tark.session.list', { all = options.all or nil }, function(answer, known)
    if not action then
      return go_on_with(known, nil)
    end
    local items = vim.list_slice(answer.sessions)
    if name == 'open' then
      table.insert(items, 1, { new = true })
    elseif #items == 0 then
      return notify.say('there are no sessions')
    end
    local verb = name:sub(1, 1):upper() .. name:sub(2)
    vim.ui.select(items, {
      prompt = verb .. ' a session:',
      kind = 'tark_session',
      format_item = function(session)
        return session.new and 'A new session' or row(session, known)
      end,
    }, function(session)
      if session and session.new then
        go_on_with(known, nil)
      elseif session then
        action(session, known)
      end
    end)
  end)
end

return M
