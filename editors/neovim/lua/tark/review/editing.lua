---Edits the new lines of a hunk in a separate buffer: `:w` sends them to the server. What was typed is never lost.
local clients = require('tark.server.clients')
local float = require('tark.float')
local hunks = require('tark.review.hunks')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local workspace = require('tark.workspace')

local M = {}

---@class tark.HunkEdit
---@field server_state tark.State
---@field hunk tark.Hunk
---@field sending boolean its text has been sent, and the server has not answered yet

local edits = {} ---@type table<integer, tark.HunkEdit> by buffer

---In a buffer, a hunk without lines looks like a hunk with one empty line. It counts as a hunk without lines.
---@param bufnr integer
---@return string
local function text_of(bufnr)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  if #lines == 1 and lines[1] == '' then
    return ''
  end
  local hunk = edits[bufnr].hunk
  local original = hunk.newText ~= '' and hunk.newText or hunk.oldText
  return table.concat(lines, '\n') .. ((original == '' or original:match('[\r\n]$')) and '\n' or '')
end

---@param bufnr integer
---@param title string
local function show(bufnr, title)
  local lines = vim.api.nvim_buf_line_count(bufnr)
  local size = { width = 100, height = math.max(lines + 2, 5) }
  float.open(bufnr, ('%s · :w proposes it, :q leaves it'):format(title), size)
end

---Reports a problem, and opens the window again if `:wq` closed it.
---@param bufnr integer
---@param problem string
local function refuse(bufnr, problem)
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  vim.bo[bufnr].modified = true
  if #vim.fn.win_findbuf(bufnr) == 0 then
    show(bufnr, 'your text is kept here')
  end
  problem = problem:gsub('^hunkId: ', ''):gsub('the person', 'you')
  notify.warn(('not accepted: %s; your text is kept in this window (:q! discards it)'):format(problem))
end

---Deletes the buffer if it has no window and the user has changed nothing in it.
---@param bufnr integer
local function delete_if_unused(bufnr)
  if not vim.api.nvim_buf_is_valid(bufnr) or not edits[bufnr] then
    return
  end
  local unloaded = not vim.api.nvim_buf_is_loaded(bufnr) -- by `:q!`
  local is_unused = #vim.fn.win_findbuf(bufnr) == 0 and not vim.bo[bufnr].modified and not edits[bufnr].sending
  if unloaded or is_unused then
    vim.api.nvim_buf_delete(bufnr, { force = true })
  end
end

---@param bufnr integer
---@param accept boolean
function M.write(bufnr, accept)
  local edit = edits[bufnr]
  local client = clients.by_id(edit.server_state.client_id)
  if not client then
    return refuse(bufnr, 'the server has ended')
  end
  local text = text_of(bufnr)
  vim.bo[bufnr].modified = false -- so that `:wq` closes the window; it is set again if the server refuses
  edit.sending = true
  local argument = { hunkId = edit.hunk.hunkId, newText = text, accept = accept or nil }
  requests.send_command(client, 'tark.hunk.edit', argument, function(problem)
    edit.sending = false
    if problem then
      return refuse(bufnr, problem)
    end
    local done = hunks.verbs({ edit.hunk }).accepted .. ' with your lines'
    local proposed = edit.hunk.applied and 'your lines are in the file now, :TarkAccept keeps them'
      or 'your lines are proposed now, :TarkAccept applies them'
    notify.info(accept and done or proposed)
    for _, window in ipairs(accept and vim.fn.win_findbuf(bufnr) or {}) do
      vim.api.nvim_win_close(window, false)
    end
    delete_if_unused(bufnr)
  end)
end

---@param bufnr? integer
---@return boolean is it a buffer of this module?
function M.is_edit_buffer(bufnr)
  return edits[bufnr or vim.api.nvim_get_current_buf()] ~= nil
end

---@param name string
---@param lines string[]
---@return integer bufnr
local function create_buffer(name, lines)
  local bufnr = vim.api.nvim_create_buf(false, false)
  vim.bo[bufnr].buftype = 'acwrite'
  vim.bo[bufnr].bufhidden = 'hide'
  vim.bo[bufnr].swapfile = false
  vim.api.nvim_buf_set_name(bufnr, name)
  local undolevels = vim.bo[bufnr].undolevels
  vim.bo[bufnr].undolevels = -1 -- undo cannot go back beyond the model's text
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].undolevels = undolevels
  vim.bo[bufnr].modified = false
  return bufnr
end

---@param bufnr integer
local function create_autocmds(bufnr)
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = bufnr,
    callback = function()
      M.write(bufnr, false)
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = bufnr,
    callback = function()
      edits[bufnr] = nil
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufWinLeave', 'BufUnload' }, {
    buffer = bufnr,
    desc = 'Tark: delete the buffer if the hunk was only looked at',
    callback = vim.schedule_wrap(function()
      delete_if_unused(bufnr)
    end),
  })
end

---@param entry tark.UndecidedHunk
function M.open(entry)
  local hunk = entry.hunk
  if hunk.operation then
    return notify.info(('this change %s: there are no lines to edit'):format(hunks.describe_operation(hunk)))
  end
  local name = ('tark-hunk://%s/%s'):format(hunk.hunkId, vim.fs.basename(vim.uri_to_fname(entry.uri)))
  local title = ('%s %s'):format(workspace.display_name(entry.uri), hunks.size(hunk))
  if vim.fn.bufexists(name) == 1 then -- opened before, and left
    return show(vim.fn.bufadd(name), title)
  end
  local bufnr = create_buffer(name, hunks.lines(hunk.newText))
  edits[bufnr] = { server_state = entry.server_state, hunk = hunk, sending = false }
  create_autocmds(bufnr)
  show(bufnr, title)
  local source = workspace.find_buffer(entry.uri)
  local filetype = source and vim.bo[source].filetype or ''
  vim.bo[bufnr].filetype = filetype ~= '' and filetype
    or vim.filetype.match({ filename = vim.uri_to_fname(entry.uri) })
    or ''
end

return M
