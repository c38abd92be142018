---The new lines of a hunk in a buffer of their own: `:w` gives them to the server, and nothing typed there is lost.
local hunks = require('tark.review.hunks')
local notify = require('tark.notify')
local server = require('tark.server')

local M = {}

---@class tark.Editing
---@field known tark.State
---@field hunk tark.Hunk
---@field sending boolean its text is on its way to the server

local open = {} ---@type table<integer, tark.Editing> by buffer

---A hunk without lines and one of an empty line look the same in a buffer; nobody asks for the latter.
---@param bufnr integer
---@return string
local function text_of(bufnr)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  if #lines == 1 and lines[1] == '' then
    return ''
  end
  local hunk = open[bufnr].hunk
  local model = hunk.newText ~= '' and hunk.newText or hunk.oldText
  return table.concat(lines, '\n') .. ((model == '' or model:match('[\r\n]$')) and '\n' or '')
end

---@param bufnr integer
---@param title string
local function show(bufnr, title)
  local lines = vim.api.nvim_buf_line_count(bufnr)
  local size = { width = 100, height = math.max(lines + 2, 5) }
  require('tark.float').open(bufnr, ('%s · :w takes it, :q leaves it'):format(title), size)
end

---Said in the buffer's window, which comes back where `:wq` closed it.
---@param bufnr integer
---@param problem string
local function keep(bufnr, problem)
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  vim.bo[bufnr].modified = true
  if #vim.fn.win_findbuf(bufnr) == 0 then
    show(bufnr, 'your text is kept here')
  end
  problem = problem:gsub('^hunkId: ', ''):gsub('the person', 'you')
  notify.warn(('not taken: %s; your text is kept in this window (:q! leaves it)'):format(problem))
end

---It has no window, and nothing in it is the person's own.
---@param bufnr integer
local function put_away(bufnr)
  if not vim.api.nvim_buf_is_valid(bufnr) or not open[bufnr] then
    return
  end
  local unloaded = not vim.api.nvim_buf_is_loaded(bufnr) -- by `:q!`
  local left = #vim.fn.win_findbuf(bufnr) == 0 and not vim.bo[bufnr].modified and not open[bufnr].sending
  if unloaded or left then
    vim.api.nvim_buf_delete(bufnr, { force = true })
  end
end

---@param bufnr integer
---@param accept boolean
function M.write(bufnr, accept)
  local editing = open[bufnr]
  local client = server.of(editing.known)
  if not client then
    return keep(bufnr, 'the server has ended')
  end
  local text = text_of(bufnr)
  vim.bo[bufnr].modified = false -- so that `:wq` closes the window; it is set again where the server refuses
  editing.sending = true
  local argument = { hunkId = editing.hunk.hunkId, newText = text, accept = accept or nil }
  server.command(client, 'tark.hunk.edit', argument, function(problem)
    editing.sending = false
    if problem then
      return keep(bufnr, problem)
    end
    notify.say(accept and 'accepted with your lines' or 'your lines are proposed now, :TarkAccept applies them')
    for _, window in ipairs(accept and vim.fn.win_findbuf(bufnr) or {}) do
      vim.api.nvim_win_close(window, false)
    end
    put_away(bufnr)
  end)
end

---@param bufnr? integer
---@return boolean is it such a buffer?
function M.is(bufnr)
  return open[bufnr or vim.api.nvim_get_current_buf()] ~= nil
end

---@param name string
---@param lines string[]
---@return integer bufnr
local function filled(name, lines)
  local bufnr = vim.api.nvim_create_buf(false, false)
  vim.bo[bufnr].buftype = 'acwrite'
  vim.bo[bufnr].bufhidden = 'hide'
  vim.bo[bufnr].swapfile = false
  vim.api.nvim_buf_set_name(bufnr, name)
  local undolevels = vim.bo[bufnr].undolevels
  vim.bo[bufnr].undolevels = -1 -- the person's undo ends at what the model wrote
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].undolevels = undolevels
  vim.bo[bufnr].modified = false
  return bufnr
end

---@param bufnr integer
local function watch(bufnr)
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = bufnr,
    callback = function()
      M.write(bufnr, false)
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = bufnr,
    callback = function()
      open[bufnr] = nil
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufWinLeave', 'BufUnload' }, {
    buffer = bufnr,
    desc = 'Tark: a hunk that was only looked at leaves no buffer behind',
    callback = vim.schedule_wrap(function()
      put_away(bufnr)
    end),
  })
end

---@param waiting tark.Undecided
function M.start(waiting)
  local hunk = waiting.hunk
  if hunk.operation then
    return notify.say(('this change %s: there are no lines to edit'):format(hunks.operation(hunk)))
  end
  local name = ('tark-hunk://%s/%s'):format(hunk.hunkId, vim.fs.basename(vim.uri_to_fname(waiting.uri)))
  local title = ('%s %s'):format(hunks.name(waiting.uri), hunks.size(hunk))
  if vim.fn.bufexists(name) == 1 then -- begun before, and left
    return show(vim.fn.bufadd(name), title)
  end
  local bufnr = filled(name, hunks.lines(hunk.newText))
  open[bufnr] = { known = waiting.known, hunk = hunk, sending = false }
  watch(bufnr)
  show(bufnr, title)
  local source = hunks.buffer(waiting.uri)
  local filetype = source and vim.bo[source].filetype or ''
  vim.bo[bufnr].filetype = filetype ~= '' and filetype
    or vim.filetype.match({ filename = vim.uri_to_fname(waiting.uri) })
    or ''
end

return M
