---A request for permission in the float: how it is drawn, and what each key answers.
local content = require('tark.permission.content')
local waiting = require('tark.waiting')

local M = {}

M.title = content.title

---@param uri string
---@return string as the person would name it, from where they are
local function name(uri)
  return require('tark.workspace').name(uri)
end

---@param request tark.Permission
---@param keys tark.WaitingKey[]
---@return tark.Lines
function M.draw(request, keys)
  return content.build(request, keys, name, vim.fn.environ())
end

---@param request tark.Permission
---@return integer hunks that are decided already
function M.stage(request)
  return (require('tark.permission.diff').decided(request.edits or {}))
end

---@param request tark.Permission
---@return boolean are all its hunks drawn in windows of this tab?
function M.is_drawn(request)
  local in_windows = {} ---@type table<integer, true>
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    in_windows[vim.api.nvim_win_get_buf(window)] = true
  end
  for _, document in ipairs(request.edits or {}) do
    local bufnr = require('tark.workspace').buffer(document.uri)
    for _, hunk in ipairs(document.hunks) do
      if hunk.operation or not bufnr or not in_windows[bufnr] or hunk.state == 'stale' then
        return false
      end
    end
  end
  return request.edits ~= nil
end

---@param answer tark.PermissionReply
---@return fun(each: tark.Waiting)
local function answers(answer)
  return function(each)
    waiting.answer(each, answer)
  end
end

---@param each tark.Waiting
local function reject_with_reason(each)
  local version = waiting.version(each)
  vim.ui.input({ prompt = 'Reject, because: ' }, function(reason)
    local now = waiting.find(each.request.requestId)
    if not reason then
      return
    end
    if now and waiting.version(now) == version then
      local words = reason:find('%S') and reason or nil
      waiting.answer(now, { outcome = 'reject', reason = words }, words)
    else
      require('tark.input.kept').keep(reason, 'it was changed or answered meanwhile')
    end
  end)
end

---@param each tark.Waiting
local function go_to_hunks(each)
  local client = vim.lsp.get_client_by_id(each.client_id)
  local uri, hunk = require('tark.permission.diff').first(each.request.edits)
  require('tark.waiting.float').fold()
  if client and uri then
    local start = hunk and hunk.range.start or { line = 0, character = 0 }
    local place = { uri = uri, range = { start = start, ['end'] = start } }
    vim.lsp.util.show_document(place, client.offset_encoding, { focus = true, reuse_win = true })
  end
end

---@param request tark.Permission
---@return tark.WaitingKey[]
function M.keys(request)
  local keys = {
    { 'a', 'allow this', answers({ outcome = 'allow' }), decides = true, grants = true, line = true, short = 'allow' },
  }
  for number, grant in ipairs(request.grants) do
    local key, answer = content.grant_key(grant, number), answers({ outcome = 'allow', grant = grant.id })
    local span = grant.covers:match('this (%a+)$')
    local words = content.grant_words(request, grant)
    table.insert(keys, { key, words, answer, decides = true, grants = true, line = true, short = span })
  end
  local reject = answers({ outcome = 'reject' })
  table.insert(keys, { 'r', 'reject', reject, decides = true, short = 'reject' })
  table.insert(keys, { 'R', 'reject, because ...', reject_with_reason, decides = true })
  if request.edits then
    table.insert(keys, { 'e', 'decide hunk by hunk', go_to_hunks })
  end
  table.insert(keys, { 'c', 'cancel the turn', answers({ outcome = 'cancelled' }), decides = true })
  return keys
end

return M
