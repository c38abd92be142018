---Accepts and rejects hunks: sends the commands, and reports the result.
local clients = require('tark.server.clients')
local diff = require('tark.review.diff')
local figures = require('tark.figures')
local hunks = require('tark.review.hunks')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local selection = require('tark.review.selection')
local virtual_text = require('tark.review.virtual_text')
local workspace = require('tark.workspace')

local M = {}

---@class tark.HunkCommand a command for some hunks of one server
---@field server_state tark.State
---@field command string
---@field argument table
---@field dismisses? boolean conflicts: the user's text stays

---@class tark.DecisionOutcome
---@field done integer number of hunks
---@field dismissed integer number of conflicts
---@field problems table<string, true>

---The commands for a decision, as few as possible. Each conflict gets its own command: accepting it puts Tark's lines
---in place of what the user typed, rejecting it keeps what the user typed.
---@param entries tark.UndecidedHunk[]
---@param verb 'accept'|'reject'
---@return tark.HunkCommand[]
function M.commands_for(entries, verb)
  local commands = {} ---@type tark.HunkCommand[]
  local by_key = {} ---@type table<string, tark.HunkCommand>
  for _, entry in ipairs(entries) do
    local hunk = entry.hunk
    local conflict = (hunk.state == 'conflict' or entry.typed_over) and not hunk.operation
    if conflict and verb == 'accept' then
      local argument = { hunkId = hunk.hunkId, newText = hunk.newText, accept = true }
      table.insert(commands, { server_state = entry.server_state, command = 'tark.hunk.edit', argument = argument })
    else
      -- Accepting a hunk that is applied and typed over leaves the text unchanged.
      local command = 'tark.hunk.' .. ((conflict and hunk.applied) and 'accept' or verb)
      local key = entry.server_state.client_id .. command .. tostring(conflict)
      if not by_key[key] then
        by_key[key] = { server_state = entry.server_state, command = command, argument = { hunkIds = {} } }
        by_key[key].dismisses = conflict or nil
        table.insert(commands, by_key[key])
      end
      table.insert(by_key[key].argument.hunkIds, hunk.hunkId)
    end
  end
  return commands
end

---Sends them one after another, because each can change the text.
---@param commands tark.HunkCommand[]
---@param done fun(outcome: tark.DecisionOutcome)
local function send_commands(commands, done)
  local outcome = { done = 0, dismissed = 0, problems = {} } ---@type tark.DecisionOutcome
  local function send_next(index)
    local command = commands[index]
    if not command then
      return done(outcome)
    end
    local client = clients.by_id(command.server_state.client_id)
    if not client then
      outcome.problems['the server has ended'] = true
      return done(outcome)
    end
    requests.send_command(client, command.command, command.argument, function(problem, answer)
      if problem then
        outcome.problems[problem] = true
      elseif type(answer) == 'table' and answer.hunks then
        local field = command.dismisses and 'dismissed' or 'done'
        outcome[field] = outcome[field] + #answer.hunks
        for _, skipped in ipairs(answer.skipped) do
          outcome.problems[skipped.reason] = true
        end
      else
        outcome.done = outcome.done + 1
      end
      send_next(index + 1)
    end)
  end
  send_next(1)
end

---@param done string 'accepted', 'kept'
---@param outcome tark.DecisionOutcome
local function report(done, outcome)
  local problems = vim.tbl_map(function(problem)
    return (problem:gsub('^hunkIds?: ', ''):gsub('the person', 'you'))
  end, vim.tbl_keys(outcome.problems))
  local left = hunks.undecided()
  local counts = {}
  if outcome.done > 0 or outcome.dismissed == 0 then
    table.insert(counts, ('%s %s'):format(done, figures.counted(outcome.done, 'change')))
  end
  if outcome.dismissed > 0 then
    table.insert(counts, ('dismissed %s'):format(figures.counted(outcome.dismissed, 'conflict')))
  end
  local message = table.concat(counts, ', ')
  if #problems > 0 then
    local prefix = outcome.done + outcome.dismissed > 0 and message .. ', ' or ''
    return notify.warn(('%snot %s: %s'):format(prefix, done, table.concat(problems, '; ')))
  end
  notify.info(message .. (#left > 0 and (', %s left'):format(hunks.describe_count(left)) or ', nothing left to review'))
end

---@param entries tark.UndecidedHunk[]
---@return tark.UndecidedHunk[] hunks whose buffers can be changed
---@return string[] names of the other files
local function split_by_modifiable(entries)
  local names = {}
  local modifiable = vim.tbl_filter(function(entry)
    local bufnr = workspace.find_buffer(entry.uri)
    local is_there = entry.hunk.applied and entry.hunk.state == 'pending' -- keeping a hunk writes nothing
    if is_there or not bufnr or not vim.api.nvim_buf_is_loaded(bufnr) or vim.bo[bufnr].modifiable then
      return true
    end
    names[workspace.display_name(entry.uri)] = true
    return false
  end, entries)
  return modifiable, vim.tbl_keys(names)
end

---@param entries tark.UndecidedHunk[]
---@return boolean shown some hunks were only partly visible, and the diff shows them now
local function show_cut_hunks(entries)
  local hidden = vim.tbl_filter(function(entry)
    return not entry.hunk.applied and virtual_text.is_cut(entry.hunk) and not diff.was_shown(entry.hunk)
  end, entries)
  if #hidden > 0 then
    diff.show(hidden, {})
    notify.info('the change is longer than what is shown: review the whole change, then accept it again')
  end
  return #hidden > 0
end

---@param entries tark.UndecidedHunk[]
---@param verb 'accept'|'reject'
function M.decide(entries, verb)
  local names
  if verb == 'accept' and show_cut_hunks(entries) then
    return
  end
  if verb == 'accept' then
    entries, names = split_by_modifiable(entries)
    if #names > 0 then
      notify.warn(
        ('%s cannot be changed here (:set modifiable), so nothing was applied'):format(table.concat(names, ', '))
      )
    end
  end
  if #entries > 0 then
    local decided = vim.tbl_map(function(entry)
      return entry.hunk
    end, entries)
    local changes = vim.tbl_filter(function(hunk)
      return verb == 'accept' or hunk.state == 'pending'
    end, decided)
    local verbs = hunks.verbs(#changes > 0 and changes or decided)
    send_commands(M.commands_for(entries, verb), function(outcome)
      report(verb == 'accept' and verbs.accepted or verbs.rejected, outcome)
    end)
  end
end

---Hunks that the user has not seen: hunks in files that are not open, and files to be deleted or moved.
---@param entries tark.UndecidedHunk[]
---@return tark.UndecidedHunk[]
local function unseen(entries)
  local asked = {}
  for _, entry in ipairs(entries) do
    for _, permission in ipairs(entry.server_state.permissions) do
      asked[permission.turnId] = permission.edits ~= nil or asked[permission.turnId] -- its float shows the diff
    end
  end
  return vim.tbl_filter(function(entry)
    local bufnr = workspace.find_buffer(entry.uri)
    local open = bufnr and vim.api.nvim_buf_is_loaded(bufnr) and not entry.hunk.operation
    return not (open or entry.hunk.applied or asked[entry.hunk.turnId] or diff.was_shown(entry.hunk))
  end, entries)
end

---@param entries tark.UndecidedHunk[]
---@param state string
---@return tark.UndecidedHunk[]
local function in_state(entries, state)
  return vim.tbl_filter(function(entry)
    return entry.hunk.state == state
  end, entries)
end

---Rejects all hunks of the turn. Conflicts have text of the user, so it asks once before it dismisses them.
---@param pending tark.UndecidedHunk[]
---@param conflicts tark.UndecidedHunk[]
local function reject_with_conflicts(pending, conflicts)
  local count = figures.counted(#conflicts, 'conflict')
  local choices = { ('dismiss %s: your lines stay'):format(count), ('leave %s'):format(count) }
  local options = { prompt = 'Tark: conflicts have text of yours', kind = 'tark_dismiss_conflicts' }
  vim.ui.select(choices, options, function(_, index)
    if index == 1 then
      M.decide(vim.list_extend(vim.list_slice(pending), conflicts), 'reject')
    elseif index == 2 then
      M.decide(pending, 'reject')
    end
  end)
end

---Decides on all pending hunks of the turn. Rejecting them can also dismiss its conflicts.
---@param verb 'accept'|'reject'
function M.decide_turn(verb)
  local all = selection.hunks_of_turn()
  local entries, conflicts = in_state(all, 'pending'), in_state(all, 'conflict')
  if verb == 'reject' and #conflicts > 0 then
    return reject_with_conflicts(entries, conflicts)
  elseif #entries == 0 then
    return notify.info(#hunks.undecided() > 0 and 'only conflicts are left (:TarkReview)' or 'nothing to review')
  end
  local hidden = verb == 'accept' and unseen(entries) or {}
  if #hidden > 0 then
    diff.show(hidden, {})
    return notify.info(
      ('review the files that are not open yet (%s), then :TarkAccept! again'):format(hunks.describe_count(hidden))
    )
  end
  M.decide(entries, verb)
end

return M
