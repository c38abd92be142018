---Draws a request for permission in the float, and defines what its keys answer.
local content = require('tark.permission.content')
local diff = require('tark.permission.diff')
local float = require('tark.waiting.float')
local kept_text = require('tark.kept_text')
local waiting = require('tark.state.waiting')
local workspace = require('tark.workspace')

local M = {}

local SHORT = { t = 'turn', s = 'session', F = 'always' }

M.title = content.title
M.is_one_line = true

---@param request tark.Permission
---@param keys tark.WaitingKey[]
---@return tark.StyledLines
function M.draw(request, keys)
  return content.build(request, keys, workspace.display_name, vim.fn.environ())
end

---@param request tark.Permission
---@return integer number of hunks that are decided already
function M.stage(request)
  return (diff.count_decided(request.edits or {}))
end

---@param answer tark.PermissionReply
---@return fun(entry: tark.WaitingRequest)
local function answer_with(answer)
  return function(entry)
    waiting.answer(entry, answer)
  end
end

---@param entry tark.WaitingRequest
local function reject_with_reason(entry)
  local version = waiting.version(entry)
  vim.ui.input({ prompt = 'Reject, because: ' }, function(reason)
    local current = waiting.find_request(entry.request.requestId)
    if not reason then
      return
    end
    if current and waiting.version(current) == version then
      local text = reason:find('%S') and reason or nil
      waiting.answer(current, { outcome = 'reject', reason = text }, text)
    else
      kept_text.keep(reason, 'the request was changed or answered in the meantime')
    end
  end)
end

---@param entry tark.WaitingRequest
local function go_to_hunks(entry)
  local client = vim.lsp.get_client_by_id(entry.client_id)
  local uri, hunk = diff.first_undecided(entry.request.edits)
  float.fold()
  if client and uri then
    local start = hunk and hunk.range.start or { line = 0, character = 0 }
    local place = { uri = uri, range = { start = start, ['end'] = start } }
    vim.lsp.util.show_document(place, client.offset_encoding, { focus = true, reuse_win = true })
  end
end

---@param request tark.Permission
---@return tark.WaitingKey[]
function M.keys(request)
  local unsaved = request.unsaved ~= nil and #request.unsaved > 0
  local allow = { 'a', 'allow this', answer_with({ outcome = 'allow' }), short = 'allow' }
  local keys = { allow }
  if unsaved then
    allow[2], allow.short = 'run anyway', 'run anyway'
    local save = answer_with({ outcome = 'allow', save = true })
    table.insert(keys, 1, { 'w', 'save and run', save, short = 'save and run' })
  end
  for _, key in ipairs(keys) do
    key.decides, key.grants, key.line = true, true, true
  end
  for number, grant in ipairs(request.grants) do
    local key = content.grant_key(request, grant, number)
    local answer = answer_with({ outcome = 'allow', grant = grant.id })
    local description = content.describe_grant(request, grant)
    local short = SHORT[key] -- the border has no room for all
    table.insert(keys, { key, description, answer, decides = true, grants = true, line = true, short = short })
  end
  local reject = answer_with({ outcome = 'reject' })
  table.insert(keys, { 'r', 'reject', reject, decides = true, short = 'reject' })
  table.insert(keys, { 'R', 'reject, because ...', reject_with_reason, decides = true })
  if request.edits then
    table.insert(keys, { 'e', 'decide hunk by hunk', go_to_hunks })
  end
  table.insert(keys, { 'c', 'cancel the turn', answer_with({ outcome = 'cancelled' }), decides = true })
  return keys
end

return M
