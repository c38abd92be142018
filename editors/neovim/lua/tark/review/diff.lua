---Shows the whole diff of a hunk, a file or a turn in a separate window.
local drawing = require('tark.review.drawing')
local float = require('tark.float')
local hunks = require('tark.review.hunks')
local visible = require('tark.visible')
local workspace = require('tark.workspace')

local M = {}

local CONTEXT = 3
local shown = {} ---@type table<string, string> by id of the hunk: its content when it was shown

---@param hunk tark.Hunk
---@return string
local function content_of(hunk)
  return hunk.newText .. '\0' .. hunk.oldText
end

---@param hunk tark.Hunk
---@return boolean was its current content shown completely?
function M.was_shown(hunk)
  return shown[hunk.hunkId] == content_of(hunk)
end

---@param uri string
---@return string[]? lines of the file; nil: it does not exist, or cannot be read
local function file_lines(uri)
  local bufnr = workspace.find_buffer(uri)
  if bufnr and vim.api.nvim_buf_is_loaded(bufnr) then
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  end
  local path = vim.uri_to_fname(uri)
  local is_path = not path:find('%z') -- Neovim's functions accept no other URIs
  return is_path and vim.fn.filereadable(path) == 1 and vim.fn.readfile(path, '', 100000) or nil
end

---One hunk as part of a diff, with context lines. Pure.
---@param hunk tark.Hunk
---@param lines? string[] of its file
---@param first integer its first line, from 0
---@return string[]
function M.hunk_lines(hunk, lines, first)
  local old, new = hunks.lines(hunk.oldText), hunks.lines(hunk.newText)
  local count = #(hunk.applied and new or old)
  local above = lines and vim.list_slice(lines, math.max(1, first - CONTEXT + 1), first) or {}
  local below = lines and vim.list_slice(lines, first + count + 1, first + count + CONTEXT) or {}
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
  local function add(sign, added)
    for _, line in ipairs(added) do
      table.insert(found, sign .. line)
    end
  end
  add(' ', above)
  add('-', old)
  add('+', new)
  add(' ', below)
  return found
end

---@param entries tark.UndecidedHunk[]
---@return string[]
function M.lines(entries)
  local found, uri, lines = {}, nil, nil
  for _, entry in ipairs(entries) do
    local operation = entry.hunk.operation
    if entry.uri ~= uri then
      uri, lines = entry.uri, file_lines(entry.uri)
      local name = visible.line(workspace.display_name(uri))
      local target = operation
          and (operation.kind == 'remove' and '/dev/null' or visible.line(workspace.display_name(operation.target)))
        or name
      vim.list_extend(found, { '--- ' .. (lines and name or '/dev/null'), '+++ ' .. target })
    end
    if not operation or operation.kind == 'remove' then
      local first = drawing.place(entry)
      vim.list_extend(found, M.hunk_lines(entry.hunk, lines, first))
    end
  end
  return vim.tbl_map(visible.code, found)
end

---@class tark.DiffOptions
---@field split? boolean a split instead of a float
---@field of? 'hunk'|'file'|'turn'

---@param entries tark.UndecidedHunk[]
---@param options tark.DiffOptions
function M.show(entries, options)
  local lines = M.lines(entries)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = 'wipe'
  local title = ('%s · q closes'):format(hunks.describe_count(entries))
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
    window = float.open(bufnr, title, { width = width, height = height, minimal = true })
  end
  vim.wo[window].wrap = true -- `was_shown` means that every part was visible
  vim.bo[bufnr].filetype = 'diff'
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, nowait = true, desc = 'Tark: close the diff' })
  for _, entry in ipairs(entries) do
    shown[entry.hunk.hunkId] = content_of(entry.hunk)
  end
end

return M
