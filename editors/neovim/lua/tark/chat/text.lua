---Turns a text of the model or the user into lines that cannot break the view around them. Pure.
---Closes fences, turns code citations into a link and a fenced block, and escapes forged headings and open HTML.
local M = {}

---How far the lines of a text are final. The text after `offset` is converted again when it has grown.
---@class tark.TextCursor
---@field offset integer bytes of the text that are converted
---@field count integer lines that they became
---@field fence? string an open fence
---@field snippet? { path: string, opened?: boolean } an open citation
---@field names? boolean the last line is the name of a speaker in the chat; a line below could turn it into a heading

local TICKS = '````' -- around cited code: longer than most fences in the code
local visible = require('tark.visible')

local LONGEST = 2000 -- bytes of a line; longer lines make Neovim slow
local DEEPEST, TAB = 120, 4 -- columns
local OPENING = '<code="([^"]*)" #(%d+):?(%d*)>'
local SWALLOWING =
  { '^ ? ? ?<!', '^ ? ? ?<%?', '^ ? ? ?<[pP][rR][eE]', '^ ? ? ?<[sS][cCtT]', '^ ? ? ?<[tT][eE][xX][tT]' }

---@return tark.TextCursor
function M.start()
  return { offset = 0, count = 0 }
end

---@param text string
---@return string in one line
function M.one_line(text)
  return vim.trim(visible.code((text:gsub('%s+', ' '))))
end

---Escapes a line with too many nested quotes and lists: Neovim's Markdown parser crashes at 255 of them.
---@param line string
---@return string
function M.limit_nesting(line)
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

---Appends a line, in several parts if it is long.
---@param out string[]
---@param line string
local function append_line(out, line)
  while #line > LONGEST do
    local piece = visible.cut(line, LONGEST)
    table.insert(out, piece)
    line = line:sub(#piece + 1)
  end
  table.insert(out, line)
end

---@param fence string the open one
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
---@return boolean is it the name of a speaker in the chat, ignoring all characters except letters?
local function is_speaker_name(line)
  local letters = #line < LONGEST and line:gsub('%A', ''):lower()
  return letters == 'you' or letters == 'tark'
end

---Escapes a line of prose that would look like a heading or a tool call of the chat, or that opens an HTML element that
---would swallow what follows.
---@param line string
---@param below_name? boolean the line above is the name of a speaker
---@return string
local function escape_markup(line, below_name)
  if not line:find('^ ? ? ?[#<?=-]') then
    return line
  end
  local heading = line:find('^ ? ? ?#') and is_speaker_name(line) or below_name and line:find('^ ? ? ?[=-]+%s*$')
  if heading or line:find('^ ? ? ?%? ') then
    return '\\' .. vim.trim(line)
  end
  for _, pattern in ipairs(SWALLOWING) do
    if line:find(pattern) then
      return '\\' .. vim.trim(line)
    end
  end
  return line
end

---A code reference as a Markdown link.
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

local convert_line

---Converts a line inside a citation. A citation ends at its `</code>` or at the start of another citation.
local function convert_cited_line(state, line, out)
  local closing = line:find('</code>', 1, true)
  local opening = line:find(OPENING)
  local ends = math.min(closing or math.huge, opening or math.huge)
  local cited = ends == math.huge and line or line:sub(1, ends - 1)
  if ends == math.huge or cited:find('%S') then
    if not state.snippet.opened then
      state.snippet = { path = state.snippet.path, opened = true } -- a cursor can contain the old table
      append_line(out, TICKS .. (vim.filetype.match({ filename = state.snippet.path }) or ''))
    end
    cited = cited:gsub('<\\/code>', '</code>')
    append_line(out, closes(TICKS, cited) and '    ' .. cited or cited)
  end
  if ends == math.huge then
    return
  end
  if state.snippet.opened then
    append_line(out, TICKS)
  end
  state.snippet = nil
  local rest = line:sub(closing == ends and ends + #'</code>' or ends)
  if rest:find('%S') then
    convert_line(state, rest, out)
  end
end

---Converts one line, or the rest of a line.
---@param state tark.TextCursor
---@param line string
---@param out string[]
function convert_line(state, line, out)
  if state.snippet then
    return convert_cited_line(state, line, out)
  elseif state.fence then
    if closes(state.fence, line) then
      state.fence = nil
    end
    return append_line(out, line)
  end
  local start, stop, path, first, last = line:find(OPENING)
  local before = start and line:sub(1, start - 1) or line
  if not start then
    local below_name = state.names
    state.fence, state.names = opens(line), is_speaker_name(line)
    return append_line(out, state.fence and line or escape_markup(line, below_name))
  end
  state.names = nil
  if before:find('%S') then
    append_line(out, escape_markup(before))
  end
  path = path:gsub('%%22', '"')
  append_line(out, M.link(path, first, last))
  state.snippet = { path = path }
  local rest = line:sub(stop + 1)
  if rest:find('%S') then
    convert_line(state, rest, out)
  end
end

---Converts the text from `cursor` on. Omits blank lines at its start and end, and closes fences and citations that are
---open at its end.
---@param cursor tark.TextCursor is not changed
---@param source string whose first `cursor.offset` bytes have not changed
---@return string[] lines from line `cursor.count` on
---@return tark.TextCursor next where to continue when the text has grown
function M.advance(cursor, source)
  local state = { fence = cursor.fence, snippet = cursor.snippet, names = cursor.names }
  local out = {} ---@type string[]
  local blanks = 0 -- not added yet, because they can be the last lines
  local next ---@type tark.TextCursor? before blank lines or an unfinished line at the end
  local at = cursor.offset + 1
  local function current_cursor()
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
      next = next or current_cursor()
    end
    at = (stop or #source) + 1
    if blank then
      blanks = blanks + 1
    else
      for _ = 1, cursor.count + #out > 0 and blanks or 0 do
        table.insert(out, '')
      end
      blanks = 0
      convert_line(state, line, out)
      next = stop and nil or next
    end
  end
  next = next or current_cursor()
  if state.fence or (state.snippet and state.snippet.opened) then
    append_line(out, state.fence or TICKS)
  end
  return out, next
end

---@param source string
---@return string[]
function M.lines(source)
  return (M.advance(M.start(), source))
end

return M
