---Makes text of a model or a repository safe to show: replaces invisible characters with their code points. There is
---one function for each kind of surface. It escapes text that the surface would interpret as markup.
---  code        lines of buffers, floats, virtual lines: as it is, with its lines and tabs
---  prose       prose of the chat: characters that languages and emoji need stay
---  line        one line: window titles, items and prompts of vim.ui, quickfix lists, virtual text, rows of floats
---  short       the same, shortened
---  message     messages of vim.notify()
---  winbar      values of 'winbar' and 'statusline', where `%` starts an item
---  statusline  text for a statusline from a function; the statusline may interpret items in it or not
---The same table and format as tark_lsp/visible.py; tests/editors/neovim/test_visible.py compares them.
local M = {}

local firsts, lasts ---@type integer[]?, integer[]? sorted ranges of code points, parsed when first needed

local function read_ranges()
  firsts, lasts = {}, {}
  for first, last in require('tark.visible_ranges'):gmatch('(%x+)-(%x+)') do
    table.insert(firsts, tonumber(first, 16))
    table.insert(lasts, tonumber(last, 16))
  end
end

---@param code integer a code point
---@return boolean
function M.is_invisible(code)
  if not firsts or not lasts then
    read_ranges()
    ---@cast firsts integer[]
    ---@cast lasts integer[]
  end
  local low, high = 1, #firsts
  while low < high do -- the last range that starts at `code` or before
    local middle = math.ceil((low + high) / 2)
    if firsts[middle] <= code then
      low = middle
    else
      high = middle - 1
    end
  end
  return firsts[low] <= code and code <= lasts[low]
end

---@param bytes string one lead byte and the continuation bytes after it
---@return integer? code nil: not valid UTF-8
local function decoded(bytes)
  local lead, size = bytes:byte(), #bytes
  local wanted = lead < 0x80 and 1 or lead < 0xc2 and 0 or lead < 0xe0 and 2 or lead < 0xf0 and 3 or lead < 0xf5 and 4
  if size ~= wanted then
    return nil
  end
  local code = size == 1 and lead or lead % 2 ^ (7 - size)
  for index = 2, size do
    code = code * 64 + bytes:byte(index) % 64
  end
  local least = ({ 0, 0x80, 0x800, 0x10000 })[size]
  return code >= least and code <= 0x10ffff and code or nil
end

---Invisible characters that are normal in prose: no-break and wide spaces, joiners, variation selectors of emoji.
local IN_PROSE = {}
for _, code in ipairs({ 0xa0, 0x2009, 0x200c, 0x200d, 0x202f, 0x3000, 0xfe0e, 0xfe0f }) do
  IN_PROSE[code] = true
end

---@param bytes string
---@param allowed? table<integer, true> code points
---@return string
local function show_character(bytes, allowed)
  local code = decoded(bytes)
  if not code then
    return (bytes:gsub('.', function(byte)
      return ('\\x{%x}'):format(byte:byte())
    end))
  end
  local is_replaced = M.is_invisible(code) and not (allowed and allowed[code])
  return is_replaced and ('\\u{%x}'):format(code) or bytes
end

---@param text string
---@param allowed? table<integer, true>
---@return string
local function show(text, allowed)
  if not text:find('[^\t\n\32-\126]') then
    return text
  end
  return (
    text:gsub('[%z\1-\8\11-\31\127-\255][\128-\191]*', function(bytes)
      return show_character(bytes, allowed)
    end)
  )
end

---Text in which every invisible character is replaced, except line breaks and tabs.
---@param text string
---@return string
function M.code(text)
  return show(text)
end

---The same for text on which the user decides nothing: keeps invisible characters that prose needs.
---@param text string
---@return string
function M.prose(text)
  return show(text, IN_PROSE)
end

---One line in which every character is visible: newlines as `⏎`, tabs as `⇥`.
---@param text string
---@return string
function M.line(text)
  return (M.code(text:gsub('\r\n', '\n')):gsub('\n', '⏎'):gsub('\t', '⇥'))
end

---One line without white space around the former line breaks, because layout does not matter in a message.
---@param text string
---@return string
function M.message(text)
  local parts = {}
  for line in text:gmatch('[^\r\n]+') do
    line = M.trim(line)
    if line ~= '' then
      table.insert(parts, line)
    end
  end
  return M.line(table.concat(parts, ' '))
end

---One line for an option whose value is interpreted as a 'statusline': `%` is doubled, so that it is shown once.
---@param text string
---@return string
function M.winbar(text)
  return (M.line(text):gsub('%%', '%%%%'))
end

---One line that looks the same whether it is interpreted as a 'statusline' or not: `%` becomes its code point.
---@param text string
---@return string
function M.statusline(text)
  return (M.line(text):gsub('%%', '\\u{25}'))
end

---Trims white space. vim.trim() takes seconds for kilobytes of white space; this function does not.
---@param text string
---@return string
function M.trim(text)
  return text:find('%S') and vim.trim(text) or ''
end

---Cuts a text to a number of bytes, between two characters.
---@param text string
---@param longest integer
---@return string
---@return boolean is_cut
function M.cut(text, longest)
  if #text <= longest then
    return text, false
  end
  return text:sub(1, longest + vim.str_utf_start(text, longest + 1)), true
end

---Shortens a text to one line of about `longest` bytes. Keeps its start and its end, because the end can matter, too.
---@param text string
---@param longest integer
---@return string
function M.short(text, longest)
  local line = M.line(text)
  if #line <= longest then
    return line
  end
  local head, tail = math.floor(longest * 0.6), math.floor(longest * 0.4)
  return M.cut(line, head) .. ' … ' .. line:sub(-tail):gsub('^[\128-\191]+', '')
end

return M
