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
  local keys = require('tark.review.keys')
  local accept, reject = keys.of('accept'), keys.of('reject')
  local reason = hunk.reason and hunk.reason ~= TYPED and ' (' .. require('tark.visible').line(hunk.reason) .. ')' or ''
  local words = {
    pending = ('%s  %s accept  %s reject'):format(hunks.size(hunk), accept, reject),
    changed = 'you changed these lines',
    conflict = ("conflict%s: your text is kept  %s use Tark's lines  %s keep mine"):format(reason, accept, reject),
    stale = hunk.applied and ('not taken back%s  %s keep it  %s try again'):format(reason, accept, reject)
      or ('not applied%s  %s try again  %s keep mine'):format(reason, accept, reject),
  }
  return (hunk.outsideSelection and 'outside the selection  ' or '') .. words[look]
end

---@param bufnr integer
---@return tark.LineStyle
local function style(bufnr, kind)
  return {
    line = 'Tark' .. kind,
    word = ('Tark%sWord'):format(kind),
    tabstop = vim.bo[bufnr].tabstop,
    width = vim.o.columns,
  }
end

---@param bufnr integer
---@param hunk tark.Hunk
---@param look tark.Look
---@param first integer from 0
---@param count integer of the lines that stand there
---@return tark.Drawn
function M.draw(bufnr, hunk, look, first, count)
  local drawn = { ids = {}, on_top = 0 } ---@type tark.Drawn
  local function mark(row, column, options)
    options.strict = false
    options.undo_restore = options.virt_lines == nil
    table.insert(drawn.ids, vim.api.nvim_buf_set_extmark(bufnr, M.NAMESPACE, row, column, options))
  end
  local function virtual(lines, row, above)
    if #lines > 0 then
      mark(
        row,
        0,
        { virt_lines = lines, virt_lines_above = above, virt_lines_overflow = 'scroll', right_gravity = above }
      )
      drawn.on_top = drawn.on_top + (above and row == 0 and #lines or 0)
    end
  end

  local operation = hunks.operation(hunk)
  local pending = look == 'pending'
  local kind = not pending and 'Conflict' or hunk.applied and 'Added' or 'Removed'
  local hint_row = hook(bufnr, first, math.min(count, 1), false)
  if operation then
    local row, above = hook(bufnr, 0, 0, true)
    virtual({ { { 'Tark ' .. operation, 'TarkFileOperation' } } }, row, above)
  end
  if count > 0 then
    local sign = pending and (hunk.applied and '+' or '-') or '!'
    local last = math.min(first + count, vim.api.nvim_buf_line_count(bufnr)) - 1
    mark(first, 0, {
      end_row = last,
      end_col = 0,
      line_hl_group = 'Tark' .. kind,
      sign_text = sign,
      sign_hl_group = ('Tark%sSign'):format(kind),
    })
  elseif not operation then
    mark(hint_row, 0, { sign_text = pending and (hunk.applied and '-' or '+') or '!', sign_hl_group = 'TarkHint' })
  end
  if not operation then
    local old, new = hunks.lines(hunk.oldText), hunks.lines(hunk.newText)
    local in_old, in_new = {}, {}
    if pending then
      in_old, in_new = require('tark.review.words').in_lines(old, new)
    end
    local below_comes_old = hunk.applied and look ~= 'conflict' and look ~= 'changed'
    local lines = require('tark.review.virtual_text').lines
    local virtual_lines = below_comes_old and lines(old, in_old, style(bufnr, 'Removed'))
      or lines(new, in_new, style(bufnr, 'Added'))
    virtual(virtual_lines, hook(bufnr, first, count, pending and hunk.applied))
    for number, ranges in pairs(hunk.applied and in_new or in_old) do
      for _, range in ipairs(ranges) do
        mark(first + number - 1, range[1], { end_col = range[2], hl_group = ('Tark%sWord'):format(kind) })
      end
    end
  end
  mark(hint_row, 0, {
    virt_text = { { '  ' .. hint(hunk, look), pending and 'TarkHint' or 'TarkConflictText' } },
    virt_text_pos = 'eol',
    hl_mode = 'combine',
  })
  return drawn
end

return M
