---Review of what Tark wants to change, hunk by hunk: what `:TarkAccept`, `:TarkReject`, `:TarkReview` and others do.
local M = {}

---@class tark.DecideOptions
---@field all? boolean all that is to be decided of the turn at hand, in all files
---@field range? integer[] { first, last } lines from 1; nil: the selection, else the cursor

---@param what 'accept'|'reject'
---@param options? tark.DecideOptions
local function decide(what, options)
  options = options or {}
  local editing = require('tark.review.editing')
  if what == 'accept' and editing.is() then
    return editing.write(vim.api.nvim_get_current_buf(), true)
  elseif options.all then
    return require('tark.review.decide').all(what)
  end
  local found, problem = require('tark.review.selection').at(options.range)
  if problem then
    return require('tark.notify').say(problem)
  end
  require('tark.review.decide').decide(found, what)
end

---Apply the hunk at the cursor, those in the selection, or all of the turn. Of a conflict: put Tark's lines in.
---@param options? tark.DecideOptions
function M.accept(options)
  decide('accept', options)
end

---Drop it, or take it back where it is applied already. Of a conflict: keep your text.
---@param options? tark.DecideOptions
function M.reject(options)
  decide('reject', options)
end

---@return tark.Undecided? hunk at the cursor; nil: there is none, which was said
local function at_cursor()
  local found, problem = require('tark.review.selection').at()
  if problem then
    require('tark.notify').say(problem)
  end
  return found[1]
end

---Write the new lines of the hunk at the cursor yourself: `:w` proposes them, `:TarkAccept` there applies them.
function M.edit()
  local waiting = at_cursor()
  if waiting then
    require('tark.review.editing').start(waiting)
  end
end

---Reject the hunk at the cursor and have its lines written anew.
---@param options? { prompt?: string } without a prompt it is asked for; an empty one is none
function M.regenerate(options)
  local waiting = at_cursor()
  if not waiting then
    return
  end
  local function send(prompt)
    if not prompt then
      return
    end
    local function done(problem)
      local why = problem and problem:gsub('^hunkId: ', '') ---@type string?
      if why and prompt:find('%S') then
        require('tark.input.kept').keep(prompt, why)
      else
        require('tark.notify').say(why or 'the change is being written anew')
      end
    end
    local client = require('tark.server').of(waiting.known)
    if not client then
      return done('the server has ended')
    end
    local argument = { hunkId = waiting.hunk.hunkId, prompt = prompt }
    require('tark.server').command(client, 'tark.hunk.regenerate', argument, done)
  end
  if options and options.prompt then
    return send(options.prompt)
  end
  vim.ui.input({ prompt = 'What should be otherwise? ' }, send)
end

---@param options? { count?: integer }
function M.next(options)
  require('tark.review.navigation').go(1, options and options.count or vim.v.count1)
end

---@param options? { count?: integer }
function M.previous(options)
  require('tark.review.navigation').go(-1, options and options.count or vim.v.count1)
end

---All hunks that wait as a quickfix list.
function M.list()
  require('tark.review.list').open()
end

---The whole diff: of the hunk at the cursor, of the file, or of the turn (what is there of these, in this order).
---@param options? tark.DiffOptions
function M.diff(options)
  options = options or {}
  local selection = require('tark.review.selection')
  local found = {}
  if not options.of or options.of == 'hunk' then
    found = selection.at()
  end
  if options.of == 'file' or (not options.of and #found == 0) then
    found = require('tark.review.hunks').undecided(vim.api.nvim_get_current_buf())
  end
  if options.of == 'turn' or (not options.of and #found == 0) then
    found = selection.turn()
  end
  if #found == 0 then
    return require('tark.notify').say('nothing to review here')
  end
  require('tark.review.diff').show(found, options)
end

return M
