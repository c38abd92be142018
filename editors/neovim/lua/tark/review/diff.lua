---The whole diff of a hunk, a file or a turn, in a window of its own.
local hunks = require('tark.review.hunks')

local M = {}

local CONTEXT = 3
local shown = {} ---@type table<string, string> what was shown of each hunk, by its id

---@param hunk tark.Hunk
---@return boolean was all of it shown as it is now?
function M.shown(hunk)
  return shown[hunk.hunkId] == hunk.newText .. '\0' .. hunk.oldText
end

---@param uri string
---@return string[]? lines of the file as they are now; nil: it cannot be read, or is not there
local function text_of(uri)
  local bufnr = hunks.buffer(uri)
  if bufnr and vim.api.nvim_buf_is_loaded(bufnr) then
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  end
  local path = vim.uri_to_fname(uri)
  return vim.fn.filereadable(path) == 1 and vim.fn.readfile(path, '', 100000) or nil
end

---One hunk as a diff has it, with lines around it. Pure.
---@param hunk tark.Hunk
---@param lines? string[] of its file
---@param first integer where it stands, from 0
---@return string[]
function M.hunk_lines(hunk, lines, first)
  local old, new = hunks.lines(hunk.oldText), hunks.lines(hunk.newText)
  local standing = #(hunk.applied and new or old)
  local above = lines and vim.list_slice(lines, math.max(1, first - CONTEXT + 1), first) or {}
  local below = lines and vim.list_slice(lines, first + standing + 1, first + standing + CONTEXT) or {}
  local around = #above + #below
  local states = { conflict = ' conflict: your lines are kept', stale = ' not applied' }
  local head = ('@@ -%d,%d +%d,%d @@%s'):format(
    first - #above + 1,
    #old + around,
    first - #above + 1,
    #new + around,
    states[hunk.state] or (hunk.applied and ' applied already' or '')
  )
  local found = { head }
  local function add(sign, some)
    for _, line in ipairs(some) do
      table.insert(found, sign .. line)
    end
  end
  add(' ', above)
  add('-', old)
  add('+', new)
  add(' ', below)
  return found
end

---@param waiting tark.Undecided[]
---@return string[]
function M.lines(waiting)
  local found, uri, lines = {}, nil, nil
  for _, each in ipairs(waiting) do
    local operation = each.hunk.operation
    if each.uri ~= uri then
      uri, lines = each.uri, text_of(each.uri)
      local name = hunks.name(uri)
      local target = operation and (operation.kind == 'remove' and '/dev/null' or hunks.name(operation.target)) or name
      vim.list_extend(found, { '--- ' .. (lines and name or '/dev/null'), '+++ ' .. target })
    end
    if not operation or operation.kind == 'remove' then
      local first = require('tark.review.drawing').place(each)
      vim.list_extend(found, M.hunk_lines(each.hunk, lines, first))
    end
  end
  return vim.tbl_map(require('tark.visible').code, found)
end

---@class tark.DiffOptions
---@field split? boolean a split instead of a float
---@field of? 'hunk'|'file'|'turn'

---@param waiting tark.Undecided[]
---@param options tark.DiffOptions
function M.show(waiting, options)
  local lines = M.lines(waiting)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = 'wipe'
  local title = ('%s · q closes'):format(hunks.count(waiting))
  local window
  if options.split then
    vim.cmd.split()
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, bufnr)
  else
    local width, height = math.floor(vim.o.columns * 0.85), 0
    for _, line in ipairs(lines) do
      height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / math.max(width, 1)))
    end
    window = require('tark.float').open(bufnr, title, { width = width, height = height, minimal = true })
  end
  vim.wo[window].wrap = true -- to be shown is to be seen whole
  vim.bo[bufnr].filetype = 'diff'
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, nowait = true, desc = 'Tark: close the diff' })
  for _, each in ipairs(waiting) do
    shown[each.hunk.hunkId] = each.hunk.newText .. '\0' .. each.hunk.oldText
  end
end

return M
