---`:TarkCommit`: writes a commit message into the buffer in which Git asks for it. It commits nothing, and replaces no
---text of the user.
local commit_buffer = require('tark.commands.commit_buffer')
local lifecycle = require('tark.server.lifecycle')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local state = require('tark.state')

local M = {}

local INDEXES = { '^index$', '^index%.lock$', '^next%-index%-%d+%.lock$' } -- that `git commit` makes

local writing = {} ---@type table<integer, true> buffers whose message the model writes

---@return string? name of the index that Git commits, if it started this Neovim
local function index_name()
  local name = vim.fs.basename(vim.env.GIT_INDEX_FILE or '')
  for _, pattern in ipairs(INDEXES) do
    if name:match(pattern) then
      return name
    end
  end
end

---@param bufnr integer
---@param message string
local function insert(bufnr, message)
  commit_buffer.insert(bufnr, message)
  notify.info('the commit message is written: :wq commits, :cq does not')
end

---@param bufnr integer
---@param message string
local function use_message(bufnr, message)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return notify.warn('the commit message is written, but its buffer is closed')
  end
  if commit_buffer.is_empty(bufnr) then
    return insert(bufnr, message)
  end
  local choices = { 'insert the new message above your text', 'drop the new message' }
  vim.ui.select(choices, { prompt = 'Tark, there is a message already:', kind = 'tark_commit' }, function(_, index)
    if index == 1 and vim.api.nvim_buf_is_loaded(bufnr) then
      insert(bufnr, message)
    end
  end)
end

---@param bufnr integer
---@param work_tree string
---@param client vim.lsp.Client
local function ask_for_message(bufnr, work_tree, client)
  local server_state = state.of_client(client.id)
  local session = state.current_session(server_state)
  local argument = {
    root = vim.uri_from_fname(work_tree),
    index = index_name(),
    model = session.model or server_state.settings.model,
  }
  requests.send_command(client, 'tark.commitMessage', argument, function(problem, answer)
    writing[bufnr] = nil
    problem = problem or (answer.error and answer.error.message)
    if problem then
      return notify.warn('no commit message is written: ' .. problem)
    end
    use_message(bufnr, answer.message)
  end)
end

---Writes the message for the staged changes.
function M.write_message()
  local bufnr = vim.api.nvim_get_current_buf()
  if vim.bo[bufnr].filetype ~= 'gitcommit' then
    return notify.warn('this is not the message of a commit: run git commit, then :TarkCommit in its buffer')
  end
  local work_tree = commit_buffer.work_tree(bufnr)
  if not work_tree then
    return notify.warn('the repository of this commit was not found')
  elseif writing[bufnr] then
    return notify.info('the commit message is being written')
  end
  writing[bufnr] = true
  notify.info('writing the commit message…')
  lifecycle.ensure_server(bufnr, function(problem, client)
    if not client then
      writing[bufnr] = nil
      return notify.warn('no commit message is written: ' .. (problem or 'no server is running'))
    end
    ask_for_message(bufnr, work_tree, client)
  end)
end

return M
