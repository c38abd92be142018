---One hunk as it looks in a buffer: signs and highlights on the lines that stand there, the others as virtual lines.
local hunks = require('tark.review.hunks')

require('tark.highlights')

local M = {}

---The reason of a conflict that needs no words.
local TYPED = 'the person changed these lines'

M.NAMESPACE = vim.api.nvim_create_namespace('tark_review')

---@alias tark.Look
---| 'pending'  # its lines stand as they did when it was made
---| 'changed'  # they do not, and the server has not said yet what that means
---| 'conflict'
---| 'stale'    # it could not be applied, or taken back

---@class tark.Drawn
---@field ids integer[] extmarks
---@field on_top integer virtual lines above the first line of the buffer

---@param bufnr integer
---@param drawn tark.Drawn
function M.erase(bufnr, drawn)
  for _, id in ipairs(drawn.ids) do
    vim.api.nvim_buf_del_extmark(bufnr, M.NAMESPACE, id)
  end
end

---Where virtual lines hang that belong above or below lines [first, first + count).
---@return integer row
---@return boolean above
local function hook(bufnr, first, count, above)
  local lines = vim.api.nvim_buf_line_count(bufnr)
  if count > 0 and not above then
    return math.min(first + count, lines) - 1, false
  elseif first > 0 then
    return math.min(first, lines) - 1, false
  end
  local is_empty = lines == 1 and vim.api.nvim_buf_get_lines(bufnr, 0, 1, false)[1] == ''
  return 0, not is_empty
end

---@param hunk tark.Hunk
---@param look tark.Look
---@return string words
local function hint(hunk, look)
  local mapped = require('tark.keymaps').mapped
  local accept, reject = mapped('accept', 'TarkAccept'), mapped('reject', 'TarkReject')
  local reason = hunk.reason and hunk.reason ~= TYPED and ' (' .. require('tark.visible').line(hunk.reason) .. ')' or ''
  local function named(key, word) -- a command says it itself
    return key:find('^:') and key or key .. ' ' .. word
  end
  local words = {
    pending = ('%s  %s  %s'):format(hunks.size(hunk), named(accept, 'accept'), named(reject, 'reject')),
    changed = 'you changed these lines',
    conflict = ('conflict: yours kept  %s theirs  %s mine%s'):format(accept, reject, reason),
    stale = hunk.applied and ('not taken back  %s keep it  %s try again%s'):format(accept, reject, reason)
      or ('not applied  %s try again  %s keep mine%s'):format(accept, reject, reason),
  }
  return (hunk.outsideSelection and 'outside the selection  ' or '') .. words[look]
end

---@param bufnr integer
---@return integer columns of text that each of its windows shows
local function room(bufnr)
  local least = vim.o.columns
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    least = math.min(least, vim.api.nvim_win_get_width(window) - vim.fn.getwininfo(window)[1].textoff)
  end
  return math.max(least, 1)
end

---@param bufnr integer
---@param kind 'Added'|'Removed'
---@return tark.LineStyle
local function style(bufnr, kind)
  return {
    sign = kind == 'Added' and '+ ' or '- ',
    sign_group = ('Tark%sSign'):format(kind),
    line = 'Tark' .. kind,
    word = ('Tark%sWord'):format(kind),
    tabstop = vim.bo[bufnr].tabstop,
    width = vim.o.columns,
    room = room(bufnr),
  }
end

---@class tark.HunkCanvas where a hunk is drawn, and as what
---@field bufnr integer
---@field hunk tark.Hunk
---@field look tark.Look
---@field first integer from 0
---@field count integer of the lines that stand there
---@field drawn tark.Drawn
local Canvas = {}
Canvas.__index = Canvas

---@param row integer
---@param column integer
---@param options vim.api.keyset.set_extmark
function Canvas:mark(row, column, options)
  options.strict = false
  options.undo_restore = options.virt_lines == nil
  table.insert(self.drawn.ids, vim.api.nvim_buf_set_extmark(self.bufnr, M.NAMESPACE, row, column, options))
end

---@param lines [string, string][][]
---@param row integer
---@param above boolean
function Canvas:virtual(lines, row, above)
  if #lines > 0 then
    self:mark(
      row,
      0,
      { virt_lines = lines, virt_lines_above = above, virt_lines_overflow = 'scroll', right_gravity = above }
    )
    self.drawn.on_top = self.drawn.on_top + (above and row == 0 and #lines or 0)
  end
end

---@return 'Conflict'|'Added'|'Removed' what the lines are that stand there
function Canvas:kind()
  return self.look ~= 'pending' and 'Conflict' or self.hunk.applied and 'Added' or 'Removed'
end

---The lines that stand there. Where there are none the ones around are as they were, and have no sign.
function Canvas:standing()
  if self.count == 0 then
    return
  end
  local kind = self:kind()
  self:mark(self.first, 0, {
    end_row = math.min(self.first + self.count, vim.api.nvim_buf_line_count(self.bufnr)) - 1,
    end_col = 0,
    line_hl_group = 'Tark' .. kind,
    sign_text = ({ Conflict = '!', Added = '+', Removed = '-' })[kind],
    sign_hl_group = ('Tark%sSign'):format(kind),
  })
end

---The lines that stood there, or are to come, and the words that differ.
function Canvas:other()
  local hunk, pending = self.hunk, self.look == 'pending'
  local old, new = hunks.lines(hunk.oldText), hunks.lines(hunk.newText)
  local in_old, in_new = {}, {}
  if pending then
    in_old, in_new = require('tark.review.words').in_lines(old, new)
  end
  local below_comes_old = hunk.applied and self.look ~= 'conflict' and self.look ~= 'changed'
  local lines = require('tark.review.virtual_text').lines
  local virtual_lines = below_comes_old and lines(old, in_old, style(self.bufnr, 'Removed'))
    or lines(new, in_new, style(self.bufnr, 'Added'))
  self:virtual(virtual_lines, hook(self.bufnr, self.first, self.count, pending and hunk.applied))
  for number, ranges in pairs(hunk.applied and in_new or in_old) do
    for _, range in ipairs(ranges) do
      local group = ('Tark%sWord'):format(self:kind())
      self:mark(self.first + number - 1, range[1], { end_col = range[2], hl_group = group })
    end
  end
end

---@param bufnr integer
---@param hunk tark.Hunk
---@param look tark.Look
---@param first integer from 0
---@param count integer of the lines that stand there
---@return tark.Drawn
function M.draw(bufnr, hunk, look, first, count)
  local drawn = { ids = {}, on_top = 0 } ---@type tark.Drawn
  local canvas = { bufnr = bufnr, hunk = hunk, look = look, first = first, count = count, drawn = drawn }
  setmetatable(canvas, Canvas)
  local operation = hunks.operation(hunk)
  if operation then
    local row, above = hook(bufnr, 0, 0, true)
    canvas:virtual({ { { 'Tark ' .. operation, 'TarkFileOperation' } } }, row, above)
  end
  canvas:standing()
  if not operation then
    canvas:other()
  end
  local hint_row = hook(bufnr, first, math.min(count, 1), false)
  canvas:mark(hint_row, 0, {
    virt_text = { { '  ' .. hint(hunk, look), look == 'pending' and 'TarkHint' or 'TarkConflictText' } },
    virt_text_pos = 'eol',
    hl_mode = 'combine',
  })
  return drawn
end

return M
