---A text of the model's or the person's -> lines that cannot break the view around them. Pure.
---Fences are closed, code citations become a link and a fenced block, forged headings and open HTML are made harmless.
local M = {}

---How far a text is made into lines for good: what comes after `offset` is made anew when the text has grown.
---@class tark.TextCursor
---@field offset integer bytes of the text that are done
---@field count integer lines they made
---@field fence? string that is open
---@field snippet? { path: string, opened?: boolean } a citation that is open
---@field names? boolean the last line is the name of who speaks in the chat, which a line below it would make a heading

local TICKS = '````' -- around cited code: longer than most fences in it
local visible = require('tark.visible')

local LONGEST = 2000 -- bytes of a line; longer ones make Neovim slow
local DEEPEST, TAB = 120, 4 -- columns
local OPENING = '<code="([^"]*)" #(%d+):?(%d*)>'
local SWALLOWS = { '^ ? ? ?<!', '^ ? ? ?<%?', '^ ? ? ?<[pP][rR][eE]', '^ ? ? ?<[sS][cCtT]', '^ ? ? ?<[tT][eE][xX][tT]' }

---@return tark.TextCursor
function M.start()
  return { offset = 0, count = 0 }
end

---@param text string
---@return string shown in one line
function M.one_line(text)
  return vim.trim(visible.code((text:gsub('%s+', ' '))))
end

---A line whose quotes and lists are not deeper than what Neovim's Markdown parser survives: it crashes at 255 of them.
---@param line string
---@return string
function M.shallow(line)
  if #line <= DEEPEST / TAB then
    return line
  end
  local column = 0
  for at = 1, #line do
    local character = line:sub(at, at)
    if not character:find('[%s>*+%-%d.)]') then
      return line
    elseif column > DEEPEST then
      return line:sub(1, at - 1) .. '\\' .. line:sub(at)
    end
    column = column + (character == '\t' and TAB or 1)
  end
  return line
end

---@param out string[]
---@param line string
local function put(out, line)
  while #line > LONGEST do
    local piece = visible.cut(line, LONGEST)
    table.insert(out, piece)
    line = line:sub(#piece + 1)
  end
  table.insert(out, line)
end

---@param fence string that is open
---@param line string
local function closes(fence, line)
  local marks, rest = line:match('^ ? ? ?([`~]+)(.*)$')
  return marks and marks:sub(1, 1) == fence:sub(1, 1) and #marks >= #fence and not rest:find('%S')
end

---@param line string
---@return string? fence
local function opens(line)
  local marks, info = line:match('^ ? ? ?(```+)(.*)$')
  if marks and not info:find('`') then
    return marks
  end
  return line:match('^ ? ? ?(~~~+)')
end

---@param line string
---@return boolean is it the name of one who speaks in the chat, whatever is around its letters?
local function names(line)
  local letters = #line < LONGEST and line:gsub('%A', ''):lower()
  return letters == 'you' or letters == 'tark'
end

---@param line string prose: neither a heading or a call of ours nor HTML that would swallow what follows
---@param below_name? boolean it stands below such a name
---@return string
local function harmless(line, below_name)
  if not line:find('^ ? ? ?[#<?=-]') then
    return line
  end
  local heading = line:find('^ ? ? ?#') and names(line) or below_name and line:find('^ ? ? ?[=-]+%s*$')
  if heading or line:find('^ ? ? ?%? ') then
    return '\\' .. vim.trim(line)
  end
  for _, pattern in ipairs(SWALLOWS) do
    if line:find(pattern) then
      return '\\' .. vim.trim(line)
    end
  end
  return line
end

---A reference to code as a Markdown link.
---@param path string as the model wrote it
---@param first string|integer
---@param last? string|integer
function M.link(path, first, last)
  local ranged = last and last ~= '' and tonumber(last) > tonumber(first)
  local label = path:gsub('[%[%]]', '') .. ':' .. first .. (ranged and '-' .. last or '')
  local target = path:gsub('[%s()<>#%%]', function(character)
    return ('%%%02X'):format(character:byte())
  end)
  return ('[%s](%s#L%s%s)'):format(label, target, first, ranged and '-L' .. last or '')
end

local feed

---Inside a citation: up to its `</code>`, or to where another one begins before that.
local function code(state, line, out)
  local closing = line:find('</code>', 1, true)
  local opening = line:find(OPENING)
  local ends = math.min(closing or math.huge, opening or math.huge)
  local said = ends == math.huge and line or line:sub(1, ends - 1)
  if ends == math.huge or said:find('%S') then
    if not state.snippet.opened then
      state.snippet = { path = state.snippet.path, opened = true } -- the old one may be part of a cursor
      put(out, TICKS .. (vim.filetype.match({ filename = state.snippet.path }) or ''))
    end
    said = said:gsub('<\\/code>', '</code>')
    put(out, closes(TICKS, said) and '    ' .. said or said)
  end
  if ends == math.huge then
    return
  end
  if state.snippet.opened then
    put(out, TICKS)
  end
  state.snippet = nil
  local rest = line:sub(closing == ends and ends + #'</code>' or ends)
  if rest:find('%S') then
    feed(state, rest, out)
  end
end

---One line, or the rest of one.
---@param state tark.TextCursor
---@param line string
---@param out string[]
function feed(state, line, out)
  if state.snippet then
    return code(state, line, out)
  elseif state.fence then
    if closes(state.fence, line) then
      state.fence = nil
    end
    return put(out, line)
  end
  local start, stop, path, first, last = line:find(OPENING)
  local before = start and line:sub(1, start - 1) or line
  if not start then
    local below_name = state.names
    state.fence, state.names = opens(line), names(line)
    return put(out, state.fence and line or harmless(line, below_name))
  end
  state.names = nil
  if before:find('%S') then
    put(out, harmless(before))
  end
  path = path:gsub('%%22', '"')
  put(out, M.link(path, first, last))
  state.snippet = { path = path }
  local rest = line:sub(stop + 1)
  if rest:find('%S') then
    feed(state, rest, out)
  end
end

---The lines from line `cursor.count` on, and from where to go on when the text has grown. Blank lines at its beginning
---and end are left out; what is open at its end is closed.
---@param cursor tark.TextCursor is left as it is
---@param source string whose first `cursor.offset` bytes are as they were
---@return string[] lines
---@return tark.TextCursor next
function M.advance(cursor, source)
  local state = { fence = cursor.fence, snippet = cursor.snippet, names = cursor.names }
  local out = {} ---@type string[]
  local blanks = 0 -- held back, since they may be the last
  local next ---@type tark.TextCursor? before the blank lines or the unfinished line at the end
  local at = cursor.offset + 1
  local function here()
    return {
      offset = at - 1,
      count = cursor.count + #out,
      fence = state.fence,
      snippet = state.snippet,
      names = state.names,
    }
  end
  while at <= #source do
    local stop = source:find('\n', at, true)
    local line = visible.prose((source:sub(at, (stop or #source + 1) - 1):gsub('\r$', '')))
    local blank = not (line:find('%S') or state.snippet or state.fence)
    if blank or not stop then
      next = next or here()
    end
    at = (stop or #source) + 1
    if blank then
      blanks = blanks + 1
    else
      for _ = 1, cursor.count + #out > 0 and blanks or 0 do
        table.insert(out, '')
      end
      blanks = 0
      feed(state, line, out)
      next = stop and nil or next
    end
  end
  next = next or here()
  if state.fence or (state.snippet and state.snippet.opened) then
    put(out, state.fence or TICKS)
  end
  return out, next
end

---@param source string
---@return string[]
function M.lines(source)
  return (M.advance(M.start(), source))
end

return M
