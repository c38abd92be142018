---Answers what the server cannot learn through LSP: what the other language servers know, and the user's last
---selection.
local language_servers = require('tark.server.language_servers')
local text_range = require('tark.text_range')
local workspace = require('tark.workspace')

local M = {}

local OURS = 'tark' -- the source of the server's own diagnostics

---Reads lines of a buffer. It may not be loaded, because language servers report files that are not open.
---@param bufnr integer
---@return fun(number: integer): string line from 0; '' if there is no such line
local function line_reader(bufnr)
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
local function position_converter(line, encoding)
  return function(row, byte)
    if encoding ~= 'utf-8' then
      local text = line(row)
      byte = vim.str_utfindex(text, encoding, math.min(byte, #text), false)
    end
    return { line = row, character = byte }
  end
end

---@param bufnr? integer nil: all buffers
---@param encoding string
---@return table[] { uri, diagnostics }, as in `tark/clientState`
local function diagnostics(bufnr, encoding)
  local documents, order = {}, {}
  for _, diagnostic in ipairs(vim.diagnostic.get(bufnr)) do
    local name = vim.api.nvim_buf_is_valid(diagnostic.bufnr) and vim.api.nvim_buf_get_name(diagnostic.bufnr) or ''
    if name ~= '' and diagnostic.source ~= OURS then
      local document = documents[diagnostic.bufnr]
      if not document then
        document = { uri = vim.uri_from_bufnr(diagnostic.bufnr), diagnostics = {} }
        document.position = position_converter(line_reader(diagnostic.bufnr), encoding)
        documents[diagnostic.bufnr] = document
        table.insert(order, document)
      end
      local start = document.position(diagnostic.lnum, diagnostic.col)
      table.insert(document.diagnostics, {
        range = {
          start = start,
          ['end'] = diagnostic.end_lnum and document.position(diagnostic.end_lnum, diagnostic.end_col or 0) or start,
        },
        severity = diagnostic.severity,
        message = diagnostic.message,
        source = diagnostic.source,
        code = diagnostic.code,
      })
    end
  end
  for _, document in ipairs(order) do
    document.position = nil
  end
  return order
end

---First and last position of the current selection, or of the last one.
---@param window integer
---@param bufnr integer
---@return integer[]? first { row, byte } from 0
---@return integer[]? last { row, byte }, after the last character; the byte can be past the end of the line
local function selection_ends(window, bufnr)
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
    return { first[2] - 1, 0 }, { last[2] - 1, math.huge } -- whole lines, also of a block
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
    first, last = selection_ends(window, bufnr)
  end
  if not first or last[1] >= vim.api.nvim_buf_line_count(bufnr) then
    return vim.NIL
  end
  local line = line_reader(bufnr)
  local text = line(last[1])
  local byte = text_range.end_of_character(text, last[2])
  local position = position_converter(line, encoding)
  return {
    uri = vim.uri_from_bufnr(bufnr),
    version = vim.lsp.buf_is_attached(bufnr, client_id) and vim.lsp.util.buf_versions[bufnr] or nil,
    range = { start = position(first[1], math.min(first[2], #line(first[1]))), ['end'] = position(last[1], byte) },
  }
end

---Answers `tark/clientState`. Runs in a coroutine, and yields until the other language servers have answered.
---@param params { want: string[], uri?: string, position?: lsp.Position, query?: string }
---@param client_id integer
---@return table
function M.answer(params, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  local encoding = client and client.offset_encoding or 'utf-8'
  local answer = vim.empty_dict()
  for _, wanted in ipairs(params.want or {}) do
    if wanted == 'diagnostics' then
      local bufnr = params.uri and workspace.find_buffer(params.uri)
      answer.diagnostics = params.uri and not bufnr and {} or diagnostics(bufnr, encoding)
    elseif wanted == 'selection' then
      answer.selection = selection(client_id, encoding)
    elseif vim.list_contains(language_servers.WANTED, wanted) then
      answer[wanted] = language_servers.answer(wanted, params, encoding)
    end
  end
  return answer
end

return M
