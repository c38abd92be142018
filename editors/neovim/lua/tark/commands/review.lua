---The commands that review changes hunk by hunk: `:TarkAccept`, `:TarkReject`, `:TarkReview` and others.
local clients = require('tark.server.clients')
local decide = require('tark.review.decide')
local diff = require('tark.review.diff')
local editing = require('tark.review.editing')
local hunks = require('tark.review.hunks')
local kept_text = require('tark.kept_text')
local list = require('tark.review.list')
local navigation = require('tark.review.navigation')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local selection = require('tark.review.selection')

local M = {}

---@class tark.DecideOptions
---@field all? boolean all undecided hunks of the turn, in all files
---@field range? integer[] { first, last } lines from 1; nil: the selection, else the cursor

---@param verb 'accept'|'reject'
---@param options? tark.DecideOptions
local function decide_hunks(verb, options)
  options = options or {}
  if verb == 'accept' and editing.is_edit_buffer() then
    return editing.write(vim.api.nvim_get_current_buf(), true)
  elseif options.all then
    return decide.decide_turn(verb)
  end
  local found, problem = selection.hunks_at(options.range)
  if problem then
    return notify.info(problem)
  end
  decide.decide(found, verb)
end

---Keeps or applies the hunk at the cursor, the hunks in the selection, or all hunks of the turn. For a conflict: puts
---in Tark's lines.
---@param options? tark.DecideOptions
function M.accept(options)
  decide_hunks('accept', options)
end

---Rejects hunks, and undoes those that are applied. For a conflict: keeps the user's text.
---@param options? tark.DecideOptions
function M.reject(options)
  decide_hunks('reject', options)
end

---@return tark.UndecidedHunk? hunk at the cursor; nil: there is none, and a message says so
local function hunk_at_cursor()
  local found, problem = selection.hunks_at()
  if problem then
    notify.info(problem)
  end
  return found[1]
end

---Opens the new lines of the hunk at the cursor for editing: `:w` proposes them, `:TarkAccept` there applies them.
function M.edit()
  local undecided = hunk_at_cursor()
  if undecided then
    editing.open(undecided)
  end
end

---@param undecided tark.UndecidedHunk
---@param prompt string
local function send_regenerate(undecided, prompt)
  local function done(problem)
    local reason = problem and problem:gsub('^hunkId: ', '') ---@type string?
    if reason and prompt:find('%S') then
      kept_text.keep(prompt, reason)
    else
      notify.info(reason or 'the change is being written again')
    end
  end
  local client = clients.by_id(undecided.server_state.client_id)
  if not client then
    return done('the server has ended')
  end
  local argument = { hunkId = undecided.hunk.hunkId, prompt = prompt }
  requests.send_command(client, 'tark.hunk.regenerate', argument, done)
end

---Rejects the hunk at the cursor, and lets the model write its lines again.
---@param options? { prompt?: string } nil: the user is asked for it; '': no prompt
function M.regenerate(options)
  local undecided = hunk_at_cursor()
  if not undecided then
    return
  end
  if options and options.prompt then
    return send_regenerate(undecided, options.prompt)
  end
  vim.ui.input({ prompt = 'What should be different? ' }, function(prompt)
    if prompt then
      send_regenerate(undecided, prompt)
    end
  end)
end

---@param options? { count?: integer }
function M.next(options)
  navigation.go_to_hunk(1, options and options.count or vim.v.count1)
end

---@param options? { count?: integer }
function M.previous(options)
  navigation.go_to_hunk(-1, options and options.count or vim.v.count1)
end

M.list = list.open

---Shows the whole diff: of the hunk at the cursor, else of the file, else of the turn.
---@param options? tark.DiffOptions
function M.diff(options)
  options = options or {}
  local found = {}
  if not options.of or options.of == 'hunk' then
    found = selection.hunks_at()
  end
  if options.of == 'file' or (not options.of and #found == 0) then
    found = hunks.undecided(vim.api.nvim_get_current_buf())
  end
  if options.of == 'turn' or (not options.of and #found == 0) then
    found = selection.hunks_of_turn()
  end
  if #found == 0 then
    return notify.info('nothing to review here')
  end
  diff.show(found, options)
end

return M
