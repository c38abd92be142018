---A request for permission in words: what, why, at what risk, and the whole command or diff. Pure: no window, no state.
local visible = require('tark.visible')

local M = {}

local LONGEST_TITLE = 150
local LONGEST_COVER = 160

---@type table<string, { [1]: string, [2]: string }> the word and its highlight
local RISKS = {
  read_only = { 'only reads', 'TarkRiskNone' },
  write = { 'writes', 'TarkRiskWrite' },
  risky = { 'risky', 'TarkRiskRisky' },
  dangerous = { 'DANGEROUS', 'TarkRiskDangerous' },
}

---@param argv string[]
---@return string
local function words(argv)
  local shown = vim.tbl_map(function(word)
    return word:find('^[%w%-_./=:,+@%%]+$') and word or ("'%s'"):format(word:gsub("'", [['\'']]))
  end, argv)
  return visible.line(table.concat(shown, ' '))
end

---What is as the person's own is counted only: else it would hide what is not.
---@param into tark.Lines
---@param env table<string, string>
---@param own_env table<string, string>
local function add_env(into, env, own_env)
  local other, same = {}, 0
  for _, key in ipairs(vim.fn.sort(vim.tbl_keys(env))) do
    if env[key] == own_env[key] then
      same = same + 1
    else
      table.insert(other, words({ key .. '=' .. env[key] }))
    end
  end
  if same > 0 then
    table.insert(other, ('%s%d of your own'):format(#other > 0 and 'and ' or '', same))
  end
  if #other > 0 then
    into:add({ 'with ', 'TarkLabel' }, { table.concat(other, '  '), 'TarkFaint' })
  end
end

---@param into tark.Lines
---@param command { argv: string[], text: string, cwd: string, env: table<string, string> }
---@param own_env table<string, string>
local function add_command(into, command, own_env)
  into:quote(command.text, '$ ')
  into:add({ 'in   ', 'TarkLabel' }, visible.line(command.cwd))
  local argv = vim.list_slice(command.argv)
  if argv[#argv] == command.text then -- the shell, which gets the text above
    argv[#argv] = nil
  end
  if #argv > 0 then
    into:add({ 'by   ', 'TarkLabel' }, words(argv))
  end
  add_env(into, command.env, own_env)
  into:add('')
end

---What `covers` ends with says for how long: its first letter is the key.
---@param grant { id: string, covers: string }
---@param number integer
---@return string key
function M.grant_key(grant, number)
  return ({ turn = 't', session = 's' })[grant.covers:match('this (%a+)$')] or tostring(number)
end

---@param request tark.Permission
---@param grant { id: string, covers: string }
---@return string
function M.grant_words(request, grant)
  local covers = grant.covers
  local command = request.command and ('`%s`'):format(request.command.text)
  if command and covers:sub(1, #command) == command then
    covers = 'this very command' .. covers:sub(#command + 1)
  end
  return 'allow ' .. visible.short(covers, LONGEST_COVER)
end

---@param request tark.Permission
---@return string one line
function M.title(request)
  return visible.short(request.title, LONGEST_TITLE)
end

---The title, less what stands below it: the text of the command.
---@param request tark.Permission
---@return string
local function heading(request)
  local title = visible.line(request.title)
  local text = request.command and visible.line((visible.trim(request.command.text):gsub('%s+', ' '))) or ''
  local from, to = title:find(text, 1, true)
  if text == '' or not from or from == 1 then
    return M.title(request)
  end
  return visible.short(vim.trim(vim.trim(title:sub(1, from - 1)) .. title:sub(to + 1)), LONGEST_TITLE)
end

---@param request tark.Permission
---@param keys tark.WaitingKey[]
---@param name fun(uri: string): string how a file is called
---@param own_env table<string, string> the environment of the person
---@return tark.Lines
function M.build(request, keys, name, own_env)
  local into = require('tark.waiting.lines').new()
  local risk = RISKS[request.risk] or { visible.line(tostring(request.risk)), 'TarkRiskRisky' }
  into:add({ heading(request), 'TarkWaitingSubject' })
  into:add(risk, { ', asked because ' .. visible.line(request.why), 'TarkLabel' })
  if not request.command and not request.edits and visible.line(request.title) ~= M.title(request) then
    into:add('')
    into:quote(request.title, '> ') -- nothing else says all of what is allowed
  end
  into:add('')
  if request.command then
    add_command(into, request.command, own_env)
  end
  if request.edits then
    require('tark.permission.diff').add(into, request.edits, name)
  end
  require('tark.waiting.keys').add(into, keys)
  return into
end

return M
