---Asks the other language servers of Neovim about code, for `tark/clientState`. Never loads a buffer, because that
---would run autocommands, and can ask about swap files. Instead, the servers get a copy of a file that is not loaded
---while they are asked about it.
local workspace = require('tark.workspace')

local M = {}

local OURS = 'tark' -- the name of the plugin's own clients
local TIMEOUT = 1800 -- ms; the server waits 2 s
local LARGEST = 1024 * 1024 -- bytes of a file that is not loaded

---@param uri string
---@return integer?
local function loaded_buffer(uri)
  local bufnr = workspace.find_buffer(uri)
  return bufnr and vim.api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---Returns whether the client handles files of this type in this folder.
---@param client vim.lsp.Client
---@param path string
---@param filetype string
local function is_responsible(client, path, filetype)
  if client.root_dir and not vim.fs.relpath(client.root_dir, path) then
    return false
  end
  return vim.list_contains(client.config.filetypes or {}, filetype)
    or vim.iter(pairs(client.attached_buffers)):any(function(bufnr)
      return vim.api.nvim_buf_is_valid(bufnr) and vim.bo[bufnr].filetype == filetype
    end)
end

---@param method string
---@param bufnr? integer
---@param fits? fun(client: vim.lsp.Client): boolean?
---@return vim.lsp.Client[]
local function clients_with(method, bufnr, fits)
  local clients = vim.lsp.get_clients({ bufnr = bufnr, method = method })
  return vim.tbl_filter(function(client)
    return client.name ~= OURS and (not fits or fits(client))
  end, clients)
end

---@param path string
---@return string? text nil if there is no such file, or it is too large
local function read_file(path)
  local stat = vim.uv.fs_stat(path)
  local file = stat and stat.type == 'file' and stat.size <= LARGEST and io.open(path, 'rb')
  if not file then
    return nil
  end
  local text = file:read('*a')
  file:close()
  return text
end

---For some extensions (.ts, .h, .html), Neovim needs the text to decide, and decides only for a buffer.
---@param path string
---@param text string
---@return string?
local function filetype_of(path, text)
  local filetype = vim.filetype.match({ filename = path })
  if filetype then
    return filetype
  end
  local ignored = vim.o.eventignore
  vim.o.eventignore = 'all'
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(text, '\r?\n'))
  filetype = vim.filetype.match({ buf = bufnr, filename = path })
  vim.api.nvim_buf_delete(bufnr, { force = true })
  vim.o.eventignore = ignored
  return filetype
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param bufnr? integer
---@return any result nil if the client answers with an error; only in a coroutine
local function request(client, method, params, bufnr)
  local thread = coroutine.running()
  local sent = client:request(method, params, function(_, result)
    coroutine.resume(thread, result)
  end, bufnr)
  return sent and coroutine.yield() or nil
end

---@param line string
---@param position lsp.Position
---@param from string the encoding of the position
---@param to string
---@return lsp.Position
local function in_encoding(line, position, from, to)
  if from == to then
    return position
  end
  local byte = vim.str_byteindex(line, from, position.character, false)
  return { line = position.line, character = vim.str_utfindex(line, to, byte, false) }
end

---@param result any Location, Location[] or LocationLink[]
---@return lsp.Location[]
local function locations(result)
  local listed = result and (vim.islist(result) and result or { result }) or {}
  return vim.tbl_map(function(item)
    return { uri = item.targetUri or item.uri, range = item.targetSelectionRange or item.range }
  end, listed)
end

local lent = {} ---@type table<string, integer> by client and URI: how many questions use the copy

---@param client vim.lsp.Client
---@param document lsp.TextDocumentItem
local function lend(client, document)
  local key = client.id .. ' ' .. document.uri
  lent[key] = (lent[key] or 0) + 1
  if lent[key] == 1 then
    client:notify('textDocument/didOpen', { textDocument = document })
  end
end

---@param client vim.lsp.Client
---@param uri string
local function take_back(client, uri)
  local key = client.id .. ' ' .. uri
  lent[key] = lent[key] > 1 and lent[key] - 1 or nil
  if not lent[key] and not loaded_buffer(uri) then -- else the user has opened it meanwhile
    client:notify('textDocument/didClose', { textDocument = { uri = uri } })
  end
end

---@class tark.CodeRequest
---@field client vim.lsp.Client
---@field bufnr? integer
---@field params table of the request: textDocument and position, or query

---By wanted field: the method that a server must support, how to ask it (in a coroutine), and how to join the answers.
---@type table<string, { method: string, ask: fun(asked: tark.CodeRequest): any, join: fun(old: any, new: any): any }>
local wanted = {}

local function append(old, new)
  return vim.list_extend(old, new)
end

---@param method string
---@param more? table
---@param read? fun(result: any): any[]
local function list_of(method, more, read)
  return {
    method = method,
    join = append,
    ask = function(asked)
      local result = request(asked.client, method, vim.tbl_extend('force', asked.params, more or {}), asked.bufnr)
      return read and read(result) or result
    end,
  }
end

wanted.definition = list_of('textDocument/definition', nil, locations)
wanted.references = list_of('textDocument/references', { context = { includeDeclaration = false } }, locations)
wanted.symbols = list_of('textDocument/documentSymbol')
wanted.workspaceSymbols = list_of('workspace/symbol')

wanted.hover = {
  method = 'textDocument/hover',
  ask = function(asked)
    local result = request(asked.client, 'textDocument/hover', asked.params, asked.bufnr)
    local lines = result and result.contents and vim.lsp.util.convert_input_to_markdown_lines(result.contents) or {}
    return #lines > 0 and table.concat(lines, '\n') or nil
  end,
  join = function(old, new)
    return old .. '\n\n' .. new
  end,
}

wanted.callHierarchy = {
  method = 'textDocument/prepareCallHierarchy',
  ask = function(asked)
    local client, bufnr = asked.client, asked.bufnr
    local items = request(client, 'textDocument/prepareCallHierarchy', asked.params, bufnr)
    if not items or #items == 0 then
      return nil
    end
    local calls = { incoming = {}, outgoing = {} }
    for _, item in ipairs(items) do
      for direction, found in pairs(calls) do
        vim.list_extend(found, request(client, 'callHierarchy/' .. direction .. 'Calls', { item = item }, bufnr) or {})
      end
    end
    return calls
  end,
  join = function(old, new)
    return { incoming = append(old.incoming, new.incoming), outgoing = append(old.outgoing, new.outgoing) }
  end,
}

---Runs `ask` for all clients at once, and waits for all of them, up to a time limit.
---@param clients vim.lsp.Client[]
---@param ask fun(client: vim.lsp.Client): any in a separate coroutine
---@param join fun(old: any, new: any): any
---@return any
local function ask_all(clients, ask, join)
  local main = coroutine.running()
  local waiting, pending, answer = false, #clients, nil
  local function finished()
    pending = pending - 1
    if pending == 0 and waiting then
      waiting = false
      coroutine.resume(main)
    end
  end
  for _, client in ipairs(clients) do
    coroutine.wrap(function()
      local ok, result = pcall(ask, client)
      if ok and result then
        answer = answer and join(answer, result) or result
      elseif not ok then
        require('vim.lsp.log').warn('tark', client.name, result)
      end
      finished()
    end)()
  end
  if pending > 0 then
    waiting = true
    vim.defer_fn(function()
      if waiting then
        waiting = false
        coroutine.resume(main)
      end
    end, TIMEOUT)
    coroutine.yield()
  end
  return answer
end

---@param uri string
---@param params table of `tark/clientState`
---@param encoding string of its position
---@param question { method: string, ask: function, join: function }
local function ask_about_file(uri, params, encoding, question)
  local bufnr, path = loaded_buffer(uri), vim.uri_to_fname(uri)
  local text = not bufnr and #clients_with(question.method) > 0 and read_file(path) or nil
  local filetype = text and filetype_of(path, text)
  local clients = clients_with(question.method, bufnr, not bufnr and function(client)
    return filetype and is_responsible(client, path, filetype)
  end or nil)
  if #clients == 0 or not (bufnr or text) then
    return nil
  end
  local line = ''
  if params.position then
    local number = params.position.line
    line = bufnr and vim.api.nvim_buf_get_lines(bufnr, number, number + 1, false)[1]
      or text and vim.split(text, '\r?\n')[number + 1]
      or ''
  end
  return ask_all(clients, function(client)
    local asked = { textDocument = { uri = uri } }
    asked.position = params.position and in_encoding(line, params.position, encoding, client.offset_encoding)
    if text then
      lend(client, { uri = uri, languageId = filetype, version = 0, text = text })
    end
    local ok, result = pcall(question.ask, { client = client, bufnr = bufnr, params = asked })
    if text then
      take_back(client, uri)
    end
    return ok and result or nil
  end, question.join)
end

---What the other servers know; nil if none of them knows anything. In a coroutine.
---@param want string a field of `tark/clientState`
---@param params { uri?: string, position?: lsp.Position, query?: string }
---@param encoding string of the position
---@return any
function M.answer(want, params, encoding)
  if params.uri then
    return ask_about_file(params.uri, params, encoding, wanted[want])
  end
  local question = wanted.workspaceSymbols
  local clients = clients_with(question.method)
  return ask_all(clients, function(client)
    return question.ask({ client = client, params = { query = params.query or '' } })
  end, question.join)
end

M.WANTED = { 'definition', 'references', 'symbols', 'hover', 'callHierarchy' }

return M
