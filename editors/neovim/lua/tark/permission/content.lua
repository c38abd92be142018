---The text of a request for permission: its title, reason and risk, and the complete command or diff. Pure.
local diff = require('tark.permission.diff')
local keys_text = require('tark.waiting.keys')
local styled_lines = require('tark.waiting.styled_lines')
local visible = require('tark.visible')

local M = {}

local LONGEST_TITLE = 150
local LONGEST_COVER = 160

---@type table<string, { [1]: string, [2]: string }> the text and its highlight
local RISKS = {
  read_only = { 'only reads', 'TarkRiskNone' },
  write = { 'writes', 'TarkRiskWrite' },
  risky = { 'risky', 'TarkRiskRisky' },
  dangerous = { 'DANGEROUS', 'TarkRiskDangerous' },
}

---@param argv string[]
---@return string quoted for a shell
local function quote_words(argv)
  local shown = vim.tbl_map(function(word)
    return word:find('^[%w%-_./=:,+@%%]+$') and word or ("'%s'"):format(word:gsub("'", [['\'']]))
  end, argv)
  return visible.line(table.concat(shown, ' '))
end

---Adds the environment variables. Those that equal the user's own are only counted: they must not hide the others.
---@param out tark.StyledLines
---@param env table<string, string>
---@param own_env table<string, string>
local function add_env(out, env, own_env)
  local other, same = {}, 0
  for _, key in ipairs(vim.fn.sort(vim.tbl_keys(env))) do
    if env[key] == own_env[key] then
      same = same + 1
    else
      table.insert(other, quote_words({ key .. '=' .. env[key] }))
    end
  end
  if same > 0 then
    table.insert(other, ('%s%d of your own'):format(#other > 0 and 'and ' or '', same))
  end
  if #other > 0 then
    out:add({ 'with ', 'TarkLabel' }, { table.concat(other, '  '), 'TarkFaint' })
  end
end

---@param out tark.StyledLines
---@param command { argv: string[], text: string, cwd: string, env: table<string, string> }
---@param own_env table<string, string>
local function add_command(out, command, own_env)
  out:quote(command.text, '$ ')
  out:add({ 'in   ', 'TarkLabel' }, visible.line(command.cwd))
  local argv = vim.list_slice(command.argv)
  if argv[#argv] == command.text then -- a shell, which gets the text above
    argv[#argv] = nil
  end
  if #argv > 0 then
    out:add({ 'by   ', 'TarkLabel' }, quote_words(argv))
  end
  add_env(out, command.env, own_env)
  out:add('')
end

local SCOPE_KEYS = { turn = 't', session = 's', always = 'f' } -- f: forever

---@param request tark.Permission
---@param grant tark.Grant
---@return boolean exact the grant covers only this command
local function is_exact(request, grant)
  local command = request.command and ('`%s`'):format(request.command.text)
  return not command or grant.covers:sub(1, #command) == command
end

---The key of a grant. The letter says how long the grant lasts. A capital letter: it covers other commands, too.
---@param request tark.Permission
---@param grant tark.Grant
---@param number integer
---@return string key
function M.grant_key(request, grant, number)
  local key = SCOPE_KEYS[grant.scope or grant.covers:match('this (%a+)$')]
  return key and (is_exact(request, grant) and key or key:upper()) or tostring(number)
end

---@param request tark.Permission
---@param grant tark.Grant
---@return string
function M.describe_grant(request, grant)
  local covers = grant.covers
  if request.command and is_exact(request, grant) then
    covers = 'exactly this command' .. covers:sub(#request.command.text + 3)
  end
  return 'allow ' .. visible.short(covers, LONGEST_COVER)
end

---@param request tark.Permission
---@return string one line
function M.title(request)
  return visible.short(request.title, LONGEST_TITLE)
end

---The title, without the text of the command, which is shown below it.
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
---@param name fun(uri: string): string the display name of a file
---@param own_env table<string, string> the user's environment
---@return tark.StyledLines
function M.build(request, keys, name, own_env)
  local out = styled_lines.new()
  local risk = RISKS[request.risk] or { visible.line(tostring(request.risk)), 'TarkRiskRisky' }
  out:add({ heading(request), 'TarkWaitingSubject' })
  out:add(risk, { ', asked because ' .. visible.line(request.why), 'TarkLabel' })
  if not request.command and not request.edits and visible.line(request.title) ~= M.title(request) then
    out:add('')
    out:quote(request.title, '> ') -- nothing else shows all of what is allowed
  end
  out:add('')
  if request.command then
    add_command(out, request.command, own_env)
  end
  if request.edits then
    diff.add_diff(out, request.edits, name)
  end
  keys_text.add_lines(out, keys)
  return out
end

return M
