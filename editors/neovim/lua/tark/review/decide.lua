---Accept and reject: what is sent for each hunk, and what is said of it.
local hunks = require('tark.review.hunks')
local notify = require('tark.notify')
local selection = require('tark.review.selection')
local server = require('tark.server')

local M = {}

---@class tark.Order a command for some hunks of one server
---@field known tark.State
---@field command string
---@field argument table

---@class tark.Outcome
---@field done integer hunks
---@field problems table<string, true> in words

---The commands that say it, one for all that can be said together. A conflict is decided in words of its own: accepting
---it puts Tark's lines over what was typed, rejecting it keeps what was typed.
---@param waiting tark.Undecided[]
---@param what 'accept'|'reject'
---@return tark.Order[]
function M.orders(waiting, what)
  local orders = {} ---@type tark.Order[]
  local together = {} ---@type table<string, tark.Order>
  for _, each in ipairs(waiting) do
    local hunk = each.hunk
    local conflict = (hunk.state == 'conflict' or each.typed_over) and not hunk.operation
    if conflict and what == 'accept' then
      local argument = { hunkId = hunk.hunkId, newText = hunk.newText, accept = true }
      table.insert(orders, { known = each.known, command = 'tark.hunk.edit', argument = argument })
    else
      -- What is applied and was typed over stays as it is by being accepted.
      local command = 'tark.hunk.' .. ((conflict and hunk.applied) and 'accept' or what)
      local key = each.known.client_id .. command
      if not together[key] then
        together[key] = { known = each.known, command = command, argument = { hunkIds = {} } }
        table.insert(orders, together[key])
      end
      table.insert(together[key].argument.hunkIds, hunk.hunkId)
    end
  end
  return orders
end

---One after another, since each may change the text.
---@param orders tark.Order[]
---@param done fun(outcome: tark.Outcome)
local function carry_out(orders, done)
  local outcome = { done = 0, problems = {} } ---@type tark.Outcome
  local function go_on(index)
    local order = orders[index]
    if not order then
      return done(outcome)
    end
    local client = server.of(order.known)
    if not client then
      outcome.problems['the server has ended'] = true
      return done(outcome)
    end
    server.command(client, order.command, order.argument, function(problem, answer)
      if problem then
        outcome.problems[problem] = true
      elseif type(answer) == 'table' and answer.hunks then
        outcome.done = outcome.done + #answer.hunks
        for _, skipped in ipairs(answer.skipped) do
          outcome.problems[skipped.reason] = true
        end
      else
        outcome.done = outcome.done + 1
      end
      go_on(index + 1)
    end)
  end
  go_on(1)
end

---@param what 'accept'|'reject'
---@param outcome tark.Outcome
local function tell(what, outcome)
  local problems = vim.tbl_map(function(problem)
    return (problem:gsub('^hunkIds?: ', ''):gsub('the person', 'you'))
  end, vim.tbl_keys(outcome.problems))
  local left = hunks.undecided()
  local words = ('%sed %s'):format(what, require('tark.figures').counted(outcome.done, 'change'))
  if #problems > 0 then
    words = ('%snot %sed: %s'):format(outcome.done > 0 and words .. ', ' or '', what, table.concat(problems, '; '))
    return notify.warn(words)
  end
  notify.say(words .. (#left > 0 and (', %s left'):format(hunks.count(left)) or ', nothing left to review'))
end

---@param waiting tark.Undecided[]
---@return tark.Undecided[] those that can be written
---@return string[] names of files whose buffers take no changes
local function changeable(waiting)
  local names = {}
  local able = vim.tbl_filter(function(each)
    local bufnr = hunks.buffer(each.uri)
    if not bufnr or not vim.api.nvim_buf_is_loaded(bufnr) or vim.bo[bufnr].modifiable then
      return true
    end
    names[hunks.name(each.uri)] = true
    return false
  end, waiting)
  return able, vim.tbl_keys(names)
end

---@param waiting tark.Undecided[]
---@return boolean shown there is something in it that nobody could see
local function show_first(waiting)
  local diff = require('tark.review.diff')
  local hidden = vim.tbl_filter(function(each)
    return not each.hunk.applied and require('tark.review.virtual_text').is_cut(each.hunk) and not diff.shown(each.hunk)
  end, waiting)
  if #hidden > 0 then
    diff.show(hidden, {})
    notify.say('it is longer than what is drawn: look at all of it, then accept again')
  end
  return #hidden > 0
end

---@param waiting tark.Undecided[]
---@param what 'accept'|'reject'
function M.decide(waiting, what)
  local names
  if what == 'accept' and show_first(waiting) then
    return
  end
  if what == 'accept' then
    waiting, names = changeable(waiting)
    if #names > 0 then
      notify.warn(('%s cannot be changed here (:set modifiable), so nothing was'):format(table.concat(names, ', ')))
    end
  end
  if #waiting > 0 then
    carry_out(M.orders(waiting, what), function(outcome)
      tell(what, outcome)
    end)
  end
end

---What would be written unseen: into files that are not open, or files that are to go.
---@param waiting tark.Undecided[]
---@return tark.Undecided[]
local function unseen(waiting)
  local diff = require('tark.review.diff')
  local asked = {}
  for _, each in ipairs(waiting) do
    for _, permission in ipairs(each.known.permissions) do
      asked[permission.turnId] = permission.edits ~= nil or asked[permission.turnId] -- its window shows the diff
    end
  end
  return vim.tbl_filter(function(each)
    local bufnr = hunks.buffer(each.uri)
    local open = bufnr and vim.api.nvim_buf_is_loaded(bufnr) and not each.hunk.operation
    return not (open or each.hunk.applied or asked[each.hunk.turnId] or diff.shown(each.hunk))
  end, waiting)
end

---All of the turn at hand that is to be decided.
---@param what 'accept'|'reject'
function M.all(what)
  local waiting = vim.tbl_filter(function(each)
    return each.hunk.state == 'pending'
  end, selection.turn())
  if #waiting == 0 then
    return notify.say(#hunks.undecided() > 0 and 'only conflicts are left (:TarkReview)' or 'nothing to review')
  end
  local hidden = what == 'accept' and unseen(waiting) or {}
  if #hidden > 0 then
    require('tark.review.diff').show(hidden, {})
    return notify.say(('look at what is not open yet (%s), then :TarkAccept! again'):format(hunks.count(hidden)))
  end
  M.decide(waiting, what)
end

return M
