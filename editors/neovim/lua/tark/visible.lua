---Text that comes from a model or a repository, made safe to show: what cannot be seen becomes its code point.
---The same table and words as tark_lsp/server/asking/visible.py; tests/editors/neovim/test_visible.py compares them.
local M = {}

local firsts, lasts ---@type integer[]?, integer[]? sorted ranges of code points, read when first needed

local function read_ranges()
  firsts, lasts = {}, {}
  for first, last in require('tark.visible_ranges'):gmatch('(%x+)-(%x+)') do
    table.insert(firsts, tonumber(first, 16))
    table.insert(lasts, tonumber(last, 16))
  end
end

---@param code integer a code point
---@return boolean
function M.hidden(code)
  if not firsts or not lasts then
    read_ranges()
    ---@cast firsts integer[]
    ---@cast lasts integer[]
  end
  local low, high = 1, #firsts
  while low < high do -- the last range that begins at `code` or before
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
---@return integer? code nil: not the UTF-8 of a character
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

---At home in what people write, though it has no shape: blanks that do not break, joiners, an emoji's choice of shape.
local IN_PROSE = { [0xa0] = true, [0x200c] = true, [0x200d] = true, [0x202f] = true, [0xfe0e] = true, [0xfe0f] = true }

---@param bytes string
---@param spared? table<integer, true> code points
---@return string
local function shown(bytes, spared)
  local code = decoded(bytes)
  if not code then
    return (bytes:gsub('.', function(byte)
      return ('\\x{%x}'):format(byte:byte())
    end))
  end
  local hides = M.hidden(code) and not (spared and spared[code])
  return hides and ('\\u{%x}'):format(code) or bytes
end

---@param text string
---@param spared? table<integer, true>
---@return string
local function show(text, spared)
  if not text:find('[^\t\n\32-\126]') then
    return text
  end
  return (text:gsub('[%z\1-\8\11-\31\127-\255][\128-\191]*', function(bytes)
    return shown(bytes, spared)
  end))
end

---Lines as they are, but for what cannot be seen in them.
---@param text string
---@return string
function M.code(text)
  return show(text)
end

---Likewise, where nobody decides on what is read: what writing needs stays as it is.
---@param text string
---@return string
function M.prose(text)
  return show(text, IN_PROSE)
end

---One line in which every character can be seen: newlines as `⏎`, tabs as `⇥`.
---@param text string
---@return string
function M.line(text)
  return (M.code(text:gsub('\r\n', '\n')):gsub('\n', '⏎'):gsub('\t', '⇥'))
end

---vim.trim(), which takes seconds for kilobytes of nothing but blanks.
---@param text string
---@return string
function M.trim(text)
  return text:find('%S') and vim.trim(text) or ''
end

---At most so many bytes, no character cut.
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

---At most `longest` bytes of one line, its beginning and its end: what stands last may be what matters.
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
