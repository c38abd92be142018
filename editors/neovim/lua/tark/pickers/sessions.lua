---Lists the sessions of the workspace, and does something with the one that the user chooses.
local chat = require('tark.chat')
local completion = require('tark.commands.completion')
local figures = require('tark.figures')
local notify = require('tark.notify')
local request = require('tark.pickers.request')
local session_loader = require('tark.state.session_loader')
local sessions = require('tark.state.sessions')
local visible = require('tark.visible')

local M = {}

---@param server_state tark.State
---@param session_id? string nil: the next turn starts a new one
local function select_session(server_state, session_id)
  sessions.select_session(server_state, session_id)
  chat.show({ focus = true })
end

---@param session table
---@param server_state tark.State
local function open(session, server_state)
  session_loader.ensure_loaded(server_state, session.sessionId, function(problem)
    if problem then
      return notify.warn(problem)
    end
    select_session(server_state, session.sessionId)
  end)
end

---@param session table
local function rename(session)
  vim.ui.input({ prompt = 'Title: ', default = session.title }, function(title)
    if title and vim.trim(title) ~= '' then
      request('tark.session.rename', { sessionId = session.sessionId, title = title }, function(answer)
        notify.info(('the title of the session is %s'):format(answer.title))
      end)
    end
  end)
end

---@param session table
local function delete(session)
  local choices = { 'Keep it', 'Delete it' }
  local prompt = ('Delete the session %s?'):format(visible.line(session.title))
  vim.ui.select(choices, { prompt = prompt, kind = 'tark_delete_session' }, function(choice)
    if choice ~= choices[2] then
      return
    end
    request('tark.session.delete', { sessionId = session.sessionId }, function(_, server_state)
      sessions.remove_session(server_state, session.sessionId)
      notify.info(('deleted the session %s'):format(session.title))
    end)
  end)
end

---@param session table
local function fork(session)
  request('tark.session.fork', { sessionId = session.sessionId }, open)
end

---@param session table
local function export(session)
  request('tark.session.export', { sessionId = session.sessionId }, function(answer)
    notify.info(('exported to %s'):format(vim.fn.fnamemodify(answer.path, ':~')))
  end)
end

---@type table<string, fun(session: table, server_state: tark.State)>
M.actions = { open = open, rename = rename, delete = delete, fork = fork, export = export }

---@param session table
---@param server_state tark.State
---@return string
local function session_row(session, server_state)
  return visible.line(
    figures.join(
      session.title ~= '' and session.title or '(no title)',
      session.sessionId == server_state.session_id and 'current' or nil,
      figures.age(session.updated),
      figures.counted(session.turns, 'turn'),
      session.model,
      figures.money(session.costUsd),
      session.readOnly and 'read-only' or nil
    )
  )
end

---@param lead string the word before the cursor
---@return string[] names of actions
function M.complete(lead)
  local names = vim.tbl_keys(M.actions)
  table.insert(names, 'new')
  table.sort(names)
  return completion.matching(names, lead)
end

---@param options? { action?: string, all?: boolean } action: open (default), new, rename, delete, fork, export
function M.choose(options)
  options = options or {}
  local name = (options.action or '') ~= '' and options.action or 'open'
  local action = M.actions[name]
  if not action and name ~= 'new' then
    return notify.warn(('%s is not an action for sessions: open, new, rename, delete, fork, export'):format(name))
  end
  request('tark.session.list', { all = options.all or nil }, function(answer, server_state)
    if not action then
      return select_session(server_state, nil)
    end
    local items = vim.list_slice(answer.sessions)
    if name == 'open' then
      table.insert(items, 1, { new = true })
    elseif #items == 0 then
      return notify.info('there are no sessions')
    end
    local verb = name:sub(1, 1):upper() .. name:sub(2)
    vim.ui.select(items, {
      prompt = verb .. ' a session:',
      kind = 'tark_session',
      format_item = function(session)
        return session.new and 'A new session' or session_row(session, server_state)
      end,
    }, function(session)
      if session and session.new then
        select_session(server_state, nil)
      elseif session then
        action(session, server_state)
      end
    end)
  end)
end

return M
