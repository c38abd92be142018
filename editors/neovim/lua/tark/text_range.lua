---The lines or characters that a command is about, or the cursor. They move with the text until they are sent.
local M = {}

local namespace = vim.api.nvim_create_namespace('tark_text_ranges')

---@class tark.Range { line, line } or { line, column, line, column }: from 1, in bytes, with both ends
---@field [integer] integer
---@field is_block? boolean a block of columns, which LSP cannot express; the range has the lines of the block

---@class tark.TrackedRange
---@field bufnr integer
---@field label string for display: 'lines 3-9', or '' for the cursor
---@field address string for a command line: '3,9', or '' for the cursor
---@field is_block boolean
---@field private mark integer
---@field private has_text boolean
local TrackedRange = {}
TrackedRange.__index = TrackedRange

---The range of a command. After `:'<,'>` of a characterwise selection it has columns.
---@param arguments { range: integer, line1: integer, line2: integer }
---@return tark.Range?
function M.of_command(arguments)
  if arguments.range == 0 then
    return nil
  end
  local first, last = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  local selected = first[2] == arguments.line1 and last[2] == arguments.line2
  local shape = arguments.range == 2 and selected and vim.fn.visualmode()
  if shape == 'v' then
    return { first[2], first[3], last[2], last[3] - (vim.o.selection == 'exclusive' and 1 or 0) }
  end
  return { arguments.line1, arguments.line2, is_block = shape == '\22' }
end

---The current selection. This ends visual mode.
---@return tark.Range?
local function take_selection()
  local mode = vim.fn.mode()
  if not mode:match('^[vV\22]') then
    return nil
  end
  vim.cmd.normal({ '\27', bang = true })
  local first, last = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  return M.of_command({ range = 2, line1 = first[2], line2 = last[2] })
end

---The byte after the character at `column`, including its combining characters; at most the line's length.
---@param line string
---@param column number from 1
---@return integer
function M.end_of_character(line, column)
  if column >= #line then
    return #line
  elseif column < 1 then
    return 0
  end
  local first = column + vim.str_utf_start(line, column)
  return first - 1 + #vim.fn.strcharpart(line:sub(first), 0, 1, true)
end

---Tracks a range of the current buffer.
---@param range? tark.Range nil: the selection in visual mode, else the cursor
---@return tark.TrackedRange
function M.track(range)
  range = range or take_selection()
  local bufnr = vim.api.nvim_get_current_buf()
  local count = vim.api.nvim_buf_line_count(bufnr)
  local function text(line)
    return vim.api.nvim_buf_get_lines(bufnr, line - 1, line, false)[1] or ''
  end
  local tracked = setmetatable({ bufnr = bufnr, label = '', address = '' }, TrackedRange)
  tracked.is_block = range ~= nil and range.is_block == true
  local row, column, end_row, end_column
  if not range then
    row, column = unpack(vim.api.nvim_win_get_cursor(0))
    row, column = row - 1, math.min(column, #text(row))
    end_row, end_column = row, column
  else
    local first, last = range[1], #range == 4 and range[3] or range[2]
    first, last = math.max(1, math.min(first, last, count)), math.min(math.max(first, last), count)
    tracked.label = first == last and ('line %d'):format(first) or ('lines %d-%d'):format(first, last)
    tracked.address = ('%d,%d'):format(first, last)
    row, column, end_row, end_column = first - 1, 0, last - 1, #text(last)
    if #range == 4 then
      column, end_column = math.max(0, math.min(range[2] - 1, #text(first))), M.end_of_character(text(last), range[4])
    elseif last < count or vim.bo[bufnr].endofline or (vim.bo[bufnr].fixendofline and not vim.bo[bufnr].binary) then
      end_row, end_column = last, 0 -- whole lines include their line endings
    end
  end
  tracked.has_text = end_row > row or end_column > column
  tracked.mark = vim.api.nvim_buf_set_extmark(bufnr, namespace, row, column, {
    end_row = end_row,
    end_col = end_column,
    end_right_gravity = false,
    strict = false,
  })
  return tracked
end

---Its current position.
---@private
---@return integer[]? ends row, byte, row, byte from 0, the end excluded; nil: the text does not exist any more
function TrackedRange:ends()
  if not vim.api.nvim_buf_is_loaded(self.bufnr) then
    return nil
  end
  local mark = vim.api.nvim_buf_get_extmark_by_id(self.bufnr, namespace, self.mark, { details = true })
  if not mark[1] then
    return nil
  end
  local row, column, details = mark[1], mark[2], mark[3]
  local end_row, end_column = details.end_row or row, details.end_col or column
  if end_row < row or (end_row == row and end_column <= column) then
    return not self.has_text and { row, column, row, column } or nil
  end
  return { row, column, end_row, end_column }
end

---As a range of LSP.
---@param encoding string of the client's positions
---@return lsp.Range? range nil: the text does not exist any more
function TrackedRange:to_lsp(encoding)
  local function position(line, byte)
    local text = vim.api.nvim_buf_get_lines(self.bufnr, line, line + 1, false)[1] or ''
    return { line = line, character = vim.str_utfindex(text, encoding, math.min(byte, #text), false) }
  end
  local ends = self:ends()
  return ends and { start = position(ends[1], ends[2]), ['end'] = position(ends[3], ends[4]) }
end

---@return string
function TrackedRange:text()
  local ends = self:ends()
  if not ends then
    return ''
  end
  local row, column, end_row, end_column = unpack(ends)
  if end_row >= vim.api.nvim_buf_line_count(self.bufnr) then
    end_row, end_column = end_row - 1, -1
  end
  return table.concat(vim.api.nvim_buf_get_text(self.bufnr, row, column, end_row, end_column, {}), '\n')
end

---Stops tracking.
function TrackedRange:release()
  if vim.api.nvim_buf_is_valid(self.bufnr) then
    vim.api.nvim_buf_del_extmark(self.bufnr, namespace, self.mark)
  end
end

return M
