---Finds code references in a line of the chat, and opens their files: `path:10-20`, `[..](path#L10-L20)`,
---`<code="path" #10:20>`, `@file:path:10`. Only existing files inside the workspace are opened.
local layout = require('tark.chat.layout')
local notify = require('tark.notify')

local M = {}

---@class tark.Link
---@field start integer byte column, from 1
---@field stop integer the last column
---@field path string as it is written in the line
---@field first? integer line, from 1
---@field last? integer

local SEARCHED = 2000 -- bytes of a line in which links are found
local LONGEST_LINE_NUMBER = 9
local HIGHLIGHTED_MS = 1500
local PLAIN = '[%w_./\\+~@-]+[:#]L?%d+%-?L?%d*)()'

---@param digits? string
local function number(digits)
  return digits and digits ~= '' and #digits <= LONGEST_LINE_NUMBER and math.max(1, tonumber(digits)) or nil
end

---@param path string
local function unquote(path)
  return (path:gsub('%%(%x%x)', function(hex)
    return string.char(tonumber(hex, 16))
  end))
end

---Splits a path from the line numbers that can follow it: `:10`, `:10-20`, `#L10`, `#L10-L20`.
---@param text string
---@return string path, integer? first, integer? last
local function split_lines(text)
  for _, pattern in ipairs({ '^(.-)#L(%d+)%-L?(%d+)$', '^(.-)#L(%d+)$', '^(.+):(%d+)%-(%d+)$', '^(.+):(%d+)$' }) do
    local path, first, last = text:match(pattern)
    if path and path ~= '' and number(first) then
      return path, number(first), number(last)
    end
  end
  return text
end

---The links of a line, in order and without overlaps. Pure.
---@param line string
---@return tark.Link[]
function M.find_links(line)
  local found = {} ---@type tark.Link[]
  line = line:sub(1, SEARCHED)

  local function add(start, stop, path, first, last)
    for _, other in ipairs(found) do
      if start <= other.stop and other.start <= stop then
        return
      end
    end
    if path ~= '' and not path:find('^%a[%w+.-]+://') then
      last = first and math.max(first, last or first)
      table.insert(found, { start = start, stop = stop, path = path, first = first, last = last })
    end
  end

  for start, target, stop in line:gmatch('()%[[^%[%]]*%]%(([^()%s<>]+)%)()') do
    local path, first, last = split_lines(target)
    add(start, stop - 1, unquote(path), first, last)
  end
  for start, path, first, last, stop in line:gmatch('()<code="([^"]*)" #(%d+):?(%d*)>()') do
    add(start, stop - 1, (path:gsub('%%22', '"')), number(first), number(last))
  end
  for start, path, stop in line:gmatch('()@file:"([^"]+)"()') do
    add(start, stop - 1, split_lines(path))
  end
  for start, words in line:gmatch('()@file:([^%s"`]+)') do
    words = words:gsub("[.,;:!?)%]}']+$", '')
    add(start, start + #'@file:' + #words - 1, split_lines(words))
  end
  for _, pattern in ipairs({ '()(%a:[/\\]' .. PLAIN, '()(' .. PLAIN }) do
    for start, words, stop in line:gmatch(pattern) do
      words = words:gsub('%-L?$', '')
      local path, first, last = split_lines(words)
      if first and not line:sub(start - 1, start - 1):find('[%w:]') and not line:sub(stop, stop):find('[%w/\\]') then
        add(start, start + #words - 1, path, first, last)
      end
    end
  end
  table.sort(found, function(one, other)
    return one.start < other.start
  end)
  return found
end

---@param line string
---@param column integer byte column, from 1
---@return tark.Link?
function M.at(line, column)
  local found = M.find_links(line)
  for _, link in ipairs(found) do
    if link.start <= column and column <= link.stop then
      return link
    end
  end
end

---@param line string
---@param column integer byte column, from 1
---@return string? url of http or https
function M.url_at(line, column)
  for start, url in line:gmatch('()(https?://[^%s<>"`%]]+)') do
    url = url:gsub("[.,;:!?)%]}']+$", '')
    if start <= column and column < start + #url then
      return url
    end
  end
end

---The location of a tool call.
---@param location { uri: string, range?: lsp.Range }
---@return tark.Link?
function M.of_location(location)
  local ok, path = pcall(vim.uri_to_fname, location.uri)
  local first, last = vim.tbl_get(location, 'range', 'start', 'line'), vim.tbl_get(location, 'range', 'end', 'line')
  return ok and { start = 1, stop = 1, path = path, first = first and first + 1, last = last and last + 1 } or nil
end

---The file of a link, relative to a workspace folder.
---@param path string
---@param folders string[]
---@return string? path nil: no such file is inside the folders
function M.resolve(path, folders)
  if path:find('%z') or path:find('^[/\\][/\\]') then -- on Windows, to test //host/share is to log in there
    return nil
  end
  for _, folder in ipairs(folders) do
    local absolute = vim.fs.normalize(vim.fn.isabsolutepath(path) == 1 and path or vim.fs.joinpath(folder, path))
    local real, root = vim.uv.fs_realpath(absolute), vim.uv.fs_realpath(folder)
    if real and root and vim.fs.relpath(root, real) and (vim.uv.fs_stat(real) or {}).type == 'file' then
      return real
    end
  end
end

---@param client? vim.lsp.Client
---@return string[]
function M.folders(client)
  local folders = vim.tbl_map(function(folder)
    return vim.uri_to_fname(folder.uri)
  end, client and client.workspace_folders or {})
  return #folders > 0 and folders or { vim.fn.getcwd() }
end

---Shows the file in a window for files, at the line, and highlights the range for a moment.
---@param path string of an existing file
---@param first? integer
---@param last? integer
function M.open(path, first, last)
  local bufnr = vim.fn.bufadd(vim.fn.fnamemodify(path, ':.')) -- a short name for the status line
  vim.bo[bufnr].buflisted = true
  local window = layout.show_file(bufnr)
  vim.api.nvim_set_current_win(window)
  if not first then
    return
  end
  local lines = vim.api.nvim_buf_line_count(bufnr)
  first, last = math.min(first, lines), math.min(last or first, lines)
  vim.api.nvim_win_set_cursor(window, { first, 0 })
  vim.cmd('normal! zvzz')
  local namespace = vim.api.nvim_create_namespace('tark_links')
  vim.hl.range(bufnr, namespace, 'TarkLink', { first - 1, 0 }, { last - 1, -1 }, {
    regtype = 'V',
    timeout = HIGHLIGHTED_MS,
  })
end

---@param link tark.Link
---@param client? vim.lsp.Client
function M.follow(link, client)
  local path = M.resolve(link.path, M.folders(client))
  if path then
    M.open(path, link.first, link.last)
  else
    notify.warn(('%s is not a file in the workspace'):format(link.path))
  end
end

return M
