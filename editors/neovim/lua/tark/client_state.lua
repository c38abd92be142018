---What the server cannot know by LSP: every other server's diagnostics, and what the person selected last.
local workspace = require('tark.workspace')

local M = {}

local OURS = 'tark' -- the source of the server's own diagnostics, and the name of its client

---Lines of a buffer, also of one that is not loaded: language servers tell of files that nobody opened.
---@param bufnr integer
---@return fun(number: integer): string line from 0; '' where there is none
local function lines_of(bufnr)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    return function(number)
      return vim.api.nvim_buf_get_lines(bufnr, number, number + 1, false)[1] or ''
    end
  end
  local lines
  return function(number)
    if not lines then
      local ok, read = pcall(vim.fn.readfile, vim.api.nvim_buf_get_name(bufnr))
      lines = ok and read or {}
    end
    return lines[number + 1] or ''
  end
end

---@param line fun(number: integer): string
---@param encoding string
---@return fun(row: integer, byte: integer): lsp.Position
local function positions(line, encoding)
  return function(row, byte)
    if encoding ~= 'utf-8' then
      local text = line(row)
      byte = vim.str_utfindex(text, encoding, math.min(byte, #text), false)
    end
    return { line = row, character = byte }
  end
end

---@param bufnr? integer nil: of all
---@param encoding string
---@return table[] as `tark/clientState` wants it: { uri, diagnostics }
local function diagnostics(bufnr, encoding)
  local documents, order = {}, {}
  for _, each in ipairs(vim.diagnostic.get(bufnr)) do
    local name = vim.api.nvim_buf_is_valid(each.bufnr) and vim.api.nvim_buf_get_name(each.bufnr) or ''
    if name ~= '' and each.source ~= OURS then
      local document = documents[each.bufnr]
      if not document then
        document = { uri = vim.uri_from_bufnr(each.bufnr), diagnostics = {} }
        document.position = positions(lines_of(each.bufnr), encoding)
        documents[each.bufnr] = document
        table.insert(order, document)
      end
      local start = document.position(each.lnum, each.col)
      table.insert(document.diagnostics, {
        range = {
          start = start,
          ['end'] = each.end_lnum and document.position(each.end_lnum, each.end_col or 0) or start,
        },
        severity = each.severity,
        message = each.message,
        source = each.source,
        code = each.code,
      })
    end
  end
  for _, document in ipairs(order) do
    document.position = nil
  end
  return order
end

---The first and the last line and byte of the selection that is being made, or of the last one.
---@param window integer
---@param bufnr integer
---@return integer[]? first { row, byte }
---@return integer[]? last { row, byte }, after the last character; the byte may be past the line's end
local function selected(window, bufnr)
  local mode = vim.api.nvim_get_mode().mode
  local exclusive = vim.o.selection == 'exclusive' and 1 or 0
  if window == vim.api.nvim_get_current_win() and mode:match('^[vV\22]') then
    local first, last = vim.fn.getpos('v'), vim.fn.getpos('.')
    if first[2] > last[2] or (first[2] == last[2] and first[3] > last[3]) then
      first, last = last, first
    end
    if mode:match('^v') then
      return { first[2] - 1, first[3] - 1 }, { last[2] - 1, last[3] - exclusive }
    end
    return { first[2] - 1, 0 }, { last[2] - 1, math.huge } -- lines; of a block its lines
  end
  local first, last = vim.api.nvim_buf_get_mark(bufnr, '<'), vim.api.nvim_buf_get_mark(bufnr, '>')
  if first[1] == 0 or last[1] == 0 then
    return nil
  end
  local ended_as = vim.api.nvim_win_call(window, vim.fn.visualmode)
  if ended_as == '\22' then
    return { first[1] - 1, 0 }, { last[1] - 1, math.huge }
  end
  return { first[1] - 1, first[2] }, { last[1] - 1, last[2] + 1 - (ended_as == 'v' and exclusive or 0) }
end

---@param client_id integer
---@param encoding string
---@return table|userdata selection { uri, version?, range }, or null
local function selection(client_id, encoding)
  local window = workspace.file_window()
  local bufnr = window and vim.api.nvim_win_get_buf(window)
  local first, last
  if bufnr then
    first, last = selected(window, bufnr)
  end
  if not first or last[1] >= vim.api.nvim_buf_line_count(bufnr) then
    return vim.NIL
  end
  local line = lines_of(bufnr)
  local text = line(last[1])
  local byte = require('tark.places').after(text, last[2])
  local position = positions(line, encoding)
  return {
    uri = vim.uri_from_bufnr(bufnr),
    version = vim.lsp.buf_is_attached(bufnr, client_id) and vim.lsp.util.buf_versions[bufnr] or nil,
    range = { start = position(first[1], math.min(first[2], #line(first[1]))), ['end'] = position(last[1], byte) },
  }
end

---The answer to `tark/clientState`.
---@param params { want: string[], uri?: string }
---@param client_id integer
---@return table
function M.answer(params, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  local encoding = client and client.offset_encoding or 'utf-8'
  local answer = vim.empty_dict()
  for _, wanted in ipairs(params.want or {}) do
    if wanted == 'diagnostics' then
      local bufnr = params.uri and workspace.buffer(params.uri)
      answer.diagnostics = params.uri and not bufnr and {} or diagnostics(bufnr, encoding)
    elseif wanted == 'selection' then
      answer.selection = selection(client_id, encoding)
    end
  end
  return answer
end

return M
