---Hostile text, from the table that the tests of all three languages share, on every surface of the plugin.
local blocks = require('tark.chat.blocks')
local chat_text = require('tark.chat.text')
local content = require('tark.permission.content')
local diff = require('tark.review.diff')
local hunks = require('tark.review.hunks')
local render = require('tark.chat.render')
local styled_lines = require('tark.waiting.styled_lines')
local virtual_text = require('tark.review.virtual_text')
local visible = require('tark.visible')

local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))
local TABLE = vim.fs.joinpath(here, '..', '..', '..', 'tests', 'hostile_text.json')

local LONGEST = 1500 -- bytes: Neovim draws no longer statusline

---Code that must be shown without a changed character.
local CODE =
  { 'echo $(git rev-parse HEAD) `id` %s 100%', "ls [0-9]* a[0](1) [x](y)  'a  b'", '\\$(check) %{x} <CR> {0} &&' }

---@return { name: string, text: string }[]
local function hostile_texts()
  local found = {}
  for _, entry in ipairs(vim.json.decode(table.concat(vim.fn.readfile(TABLE), '\n'))) do
    local text = entry.text
    if not text then -- code units that no UTF-8 can hold: the bytes that a careless program makes of them
      text = table.concat(vim.tbl_map(function(unit)
        return unit < 128 and string.char(unit)
          or string.char(224 + math.floor(unit / 4096), 128 + math.floor(unit / 64) % 64, 128 + unit % 64)
      end, entry.units))
    end
    table.insert(found, { name = entry.name, text = text:sub(1, LONGEST) })
  end
  return found
end

---@param text string
---@return string? problem
local function deceives(text)
  for character in text:gmatch('[%z\1-\127\194-\244][\128-\191]*') do
    if visible.code(character) ~= character or character:find('^[%z\1-\8\11-\31\127]') then
      return ('%q'):format(character)
    end
  end
  return visible.code(text) ~= text and 'not UTF-8' or nil
end

---How Neovim reads a 'winbar' or 'statusline', if nobody has items in it.
---@param text string
---@return string
local function evaluated(text)
  return vim.api.nvim_eval_statusline(text, { maxwidth = 10000 }).str
end

local function permission(text)
  local command = { argv = { 'sh', '-c', text }, text = text, cwd = text, env = { A = text } }
  return { requestId = 'p', title = text, risk = text, why = text, grants = {}, command = command }
end

local function hunk(text)
  local start = { line = 0, character = 0 }
  return { hunkId = 'h', oldText = '', newText = text, state = 'pending', range = { start = start, ['end'] = start } }
end

local function quoted(text)
  local out = styled_lines.new()
  out:quote(text, '')
  return table.concat(out.lines, '\n')
end

---What each surface shows. `exact`: what it must show of a text.
local SURFACES = {
  {
    name = 'float',
    make = quoted,
    exact = function(text)
      return visible.code((text:gsub('\n$', '')))
    end,
  },
  { name = 'buffer of code', make = visible.code, exact = visible.code },
  { name = 'title, row of vim.ui.select, quickfix list, virtual text', make = visible.line, exact = visible.line },
  {
    name = 'message',
    make = visible.message,
    exact = function(text)
      return visible.line((vim.trim(text):gsub('%s*[\r\n]+%s*', ' ')))
    end,
  },
  {
    name = 'winbar',
    make = function(text)
      return evaluated(visible.winbar(text))
    end,
    exact = visible.line,
  },
  {
    name = 'statusline, read as items',
    make = function(text)
      return evaluated(visible.statusline(text))
    end,
    exact = function(text)
      return (visible.line(text):gsub('%%', '\\u{25}'))
    end,
  },
  {
    name = 'statusline, as it is',
    make = visible.statusline,
    exact = function(text)
      return (visible.line(text):gsub('%%', '\\u{25}'))
    end,
  },
  {
    name = 'virtual lines',
    make = function(text)
      return (virtual_text.expand(text, 8))
    end,
  },
  {
    name = 'permission',
    make = function(text)
      return table.concat(content.build(permission(text), {}, tostring, {}).lines, '\n')
    end,
  },
  {
    name = 'grant',
    make = function(text)
      return content.describe_grant(permission('x'), { id = 'g', covers = text })
    end,
  },
  {
    name = 'title of a hunk',
    make = function(text)
      return hunks.title(hunk(text))
    end,
  },
  {
    name = 'moved file',
    make = function(text)
      return hunks.title(vim.tbl_extend('force', hunk(''), { operation = { kind = 'move', target = 'x:' .. text } }))
    end,
  },
  {
    name = 'tool call',
    make = function(text)
      local piece = {}
      local result = { type = 'text', text = text }
      blocks.draw.toolCall(piece, { title = text, status = 'failed', content = { result }, arguments = text }, true)
      return table.concat(piece.lines, '\n')
    end,
  },
}

---@param text string
---@return string[]
local function diff_lines(text)
  local removed = vim.tbl_extend('force', hunk(text), { operation = { kind = 'remove' } })
  return diff.lines({ { uri = 'x:' .. text, hunk = removed } })
end

describe('hostile text', function()
  local texts = hostile_texts()
  it('is the shared table', function()
    assert.is_true(#texts > 50)
  end)
  for _, surface in ipairs(SURFACES) do
    it('is shown with all of its characters: ' .. surface.name, function()
      for _, entry in ipairs(texts) do
        local shown = surface.make(entry.text)
        assert.same({ entry.name, nil }, { entry.name, deceives(shown) })
        if surface.exact then
          assert.same({ entry.name, surface.exact(entry.text) }, { entry.name, shown })
        end
      end
    end)
  end

  it('gets no line of its own where there is one line', function()
    for _, entry in ipairs(texts) do
      for _, make in ipairs({ visible.line, visible.message, visible.winbar, visible.statusline }) do
        assert.is_nil(make(entry.text):find('[\r\n]'), entry.name)
      end
    end
  end)

  it('cannot break a line of a diff by the name of a file', function()
    for _, entry in ipairs(texts) do
      for _, line in ipairs(diff_lines(entry.text)) do
        assert.same({ entry.name, nil }, { entry.name, deceives(line) })
        assert.is_nil(line:find('\n'), entry.name)
      end
    end
  end)

  it('shows only what prose needs in the chat', function()
    local allowed = { 0xa0, 0x2009, 0x200c, 0x200d, 0x202f, 0x3000, 0xfe0e, 0xfe0f }
    for _, entry in ipairs(texts) do
      local shown = table.concat(chat_text.lines(entry.text), '\n')
      for _, code in ipairs(allowed) do
        shown = shown:gsub(vim.fn.nr2char(code), '')
      end
      assert.same({ entry.name, nil }, { entry.name, deceives(shown) })
    end
  end)

  it('cannot leave its place in the chat', function()
    for _, entry in ipairs(texts) do
      local turn =
        { turnId = 't', state = 'ended', prompt = entry.text, plan = { { content = entry.text } }, calls = {} }
      turn.blocks = { { kind = 'notice', level = 'info', message = entry.text } }
      turn.error = { message = entry.text, hint = entry.text }
      for _, piece in
        ipairs(render.turn(turn, function()
          return true
        end))
      do
        for _, line in ipairs(piece.lines) do
          assert.is_nil(line:find('\n'), entry.name)
        end
      end
    end
  end)
end)

describe('code', function()
  it('is shown without a changed character', function()
    for _, code in ipairs(CODE) do
      local exact = { quoted, visible.code, visible.line, visible.message }
      for _, make in ipairs(exact) do
        assert.same(code, make(code))
      end
      assert.same(code, evaluated(visible.winbar(code)))
      assert.same('$ ' .. code, content.build(permission(code), {}, tostring, {}).lines[4])
    end
  end)
end)
