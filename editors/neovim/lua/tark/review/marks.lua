---Draws one hunk in a buffer: signs and highlights on the lines of the text, the other lines as virtual lines.
local changed_words = require('tark.review.changed_words')
local hunks = require('tark.review.hunks')
local mapped_keys = require('tark.mapped_keys')
local virtual_text = require('tark.review.virtual_text')
local visible = require('tark.visible')

require('tark.highlights')

local M = {}

---Reasons of a conflict, as the server words them, that the hint need not repeat.
local TYPED = { ['the person changed these lines'] = true, ['you changed these lines'] = true }

M.NAMESPACE = vim.api.nvim_create_namespace('tark_review')

---@alias tark.Appearance
---| 'pending'  # its lines have not changed
---| 'changed'  # they have changed, and the server has not reported yet what that means
---| 'conflict'
---| 'stale'    # it could not be applied, or not taken back

---@class tark.Drawn
---@field ids integer[] extmarks
---@field on_top integer number of virtual lines above the first line of the buffer

---@param bufnr integer
---@param drawn tark.Drawn
function M.erase(bufnr, drawn)
  for _, id in ipairs(drawn.ids) do
    vim.api.nvim_buf_del_extmark(bufnr, M.NAMESPACE, id)
  end
end

---Finds where to attach virtual lines that belong above or below lines [first, first + count).
---@return integer row
---@return boolean above
local function anchor(bufnr, first, count, above)
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
---@param appearance tark.Appearance
---@return string
local function hint_text(hunk, appearance)
  local accept = mapped_keys.find_key('accept', 'TarkAccept')
  local reject = mapped_keys.find_key('reject', 'TarkReject')
  local reason = hunk.reason and not TYPED[hunk.reason] and ' (' .. visible.line(hunk.reason) .. ')' or ''
  local function with_word(key, word) -- a command whose name says the verb needs no verb
    return key:lower():find('^:tark' .. word) and key or key .. ' ' .. word
  end
  local verbs = hunks.verbs({ hunk })
  local texts = {
    pending = ('%s  %s  %s'):format(hunks.size(hunk), with_word(accept, verbs.accept), with_word(reject, verbs.reject)),
    changed = 'you changed these lines',
    conflict = ('conflict: yours kept  %s theirs  %s mine%s'):format(accept, reject, reason),
    stale = hunk.applied and ('not taken back  %s keep it  %s try again%s'):format(accept, reject, reason)
      or ('not applied  %s try again  %s keep mine%s'):format(accept, reject, reason),
  }
  return (hunk.outsideSelection and 'outside the selection  ' or '') .. texts[appearance]
end

---@param bufnr integer
---@return integer columns of text that all of its windows show
local function text_width(bufnr)
  local least = vim.o.columns
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    least = math.min(least, vim.api.nvim_win_get_width(window) - vim.fn.getwininfo(window)[1].textoff)
  end
  return math.max(least, 1)
end

---The first of lines [first, first + count) that has room for the hint, else the first one.
---@param bufnr integer
---@param first integer from 0
---@param count integer
---@param hint string
---@return integer row
local function row_with_room(bufnr, first, count, hint)
  local room = text_width(bufnr) - vim.fn.strdisplaywidth(hint)
  for index, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, first, first + count, false)) do
    if vim.fn.strdisplaywidth(line) <= room then
      return first + index - 1
    end
  end
  return (anchor(bufnr, first, math.min(count, 1), false))
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
    room = text_width(bufnr),
  }
end

---@class tark.HunkCanvas draws one hunk
---@field bufnr integer
---@field hunk tark.Hunk
---@field appearance tark.Appearance
---@field first integer from 0
---@field count integer number of its lines in the text
---@field drawn tark.Drawn
local Canvas = {}
Canvas.__index = Canvas

---@param row integer
---@param column integer
---@param options vim.api.keyset.set_extmark
function Canvas:add_mark(row, column, options)
  options.strict = false
  options.undo_restore = options.virt_lines == nil
  table.insert(self.drawn.ids, vim.api.nvim_buf_set_extmark(self.bufnr, M.NAMESPACE, row, column, options))
end

---@param lines [string, string][][]
---@param row integer
---@param above boolean
function Canvas:add_virtual_lines(lines, row, above)
  if #lines > 0 then
    self:add_mark(
      row,
      0,
      { virt_lines = lines, virt_lines_above = above, virt_lines_overflow = 'scroll', right_gravity = above }
    )
    self.drawn.on_top = self.drawn.on_top + (above and row == 0 and #lines or 0)
  end
end

---@return 'Conflict'|'Added'|'Removed' kind of its lines in the text
function Canvas:kind()
  return self.appearance ~= 'pending' and 'Conflict' or self.hunk.applied and 'Added' or 'Removed'
end

---Marks the hunk's lines in the text. If it has none, the lines around it have not changed, and get no sign.
function Canvas:mark_lines()
  if self.count == 0 then
    return
  end
  local kind = self:kind()
  self:add_mark(self.first, 0, {
    end_row = math.min(self.first + self.count, vim.api.nvim_buf_line_count(self.bufnr)) - 1,
    end_col = 0,
    line_hl_group = 'Tark' .. kind,
    sign_text = ({ Conflict = '!', Added = '+', Removed = '-' })[kind],
    sign_hl_group = ('Tark%sSign'):format(kind),
  })
end

---Draws the old or the proposed lines as virtual lines, and marks the words that differ.
function Canvas:draw_other_lines()
  local hunk, pending = self.hunk, self.appearance == 'pending'
  local old, new = hunks.lines(hunk.oldText), hunks.lines(hunk.newText)
  local in_old, in_new = {}, {}
  if pending then
    in_old, in_new = changed_words.in_lines(old, new)
  end
  local show_old = hunk.applied and self.appearance ~= 'conflict' and self.appearance ~= 'changed'
  local virtual_lines = show_old and virtual_text.lines(old, in_old, style(self.bufnr, 'Removed'))
    or virtual_text.lines(new, in_new, style(self.bufnr, 'Added'))
  self:add_virtual_lines(virtual_lines, anchor(self.bufnr, self.first, self.count, pending and hunk.applied))
  for number, ranges in pairs(hunk.applied and in_new or in_old) do
    for _, range in ipairs(ranges) do
      local group = ('Tark%sWord'):format(self:kind())
      self:add_mark(self.first + number - 1, range[1], { end_col = range[2], hl_group = group })
    end
  end
end

---@param bufnr integer
---@param hunk tark.Hunk
---@param appearance tark.Appearance
---@param first integer from 0
---@param count integer number of its lines in the text
---@return tark.Drawn
function M.draw(bufnr, hunk, appearance, first, count)
  local drawn = { ids = {}, on_top = 0 } ---@type tark.Drawn
  local canvas = { bufnr = bufnr, hunk = hunk, appearance = appearance, first = first, count = count, drawn = drawn }
  setmetatable(canvas, Canvas)
  local operation = hunks.describe_operation(hunk)
  if operation then
    local row, above = anchor(bufnr, 0, 0, true)
    canvas:add_virtual_lines({ { { 'Tark ' .. operation, 'TarkFileOperation' } } }, row, above)
  end
  canvas:mark_lines()
  if not operation then
    canvas:draw_other_lines()
  end
  local hint = '  ' .. hint_text(hunk, appearance)
  canvas:add_mark(row_with_room(bufnr, first, count, hint), 0, {
    virt_text = {
      { hint, appearance == 'pending' and 'TarkHint' or 'TarkConflictText' },
    },
    virt_text_pos = 'eol',
    hl_mode = 'combine',
  })
  return drawn
end

return M
