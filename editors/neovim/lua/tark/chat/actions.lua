---What the keys of the chat do (chat/keys.lua).
local M = {}

---@return tark.Piece?
local function piece_here()
  return (require('tark.chat.view').piece_at(vim.api.nvim_win_get_cursor(0)[1]))
end

---@return vim.lsp.Client?
local function client()
  local known = require('tark.chat').known()
  return known and require('tark.server').of(known)
end

---@return tark.Link?
local function link_here()
  local column = vim.api.nvim_win_get_cursor(0)[2] + 1
  return require('tark.links').at(vim.api.nvim_get_current_line(), column)
end

---@return tark.Link? where the tool call at the cursor works
local function location_here()
  local piece = piece_here()
  local location = piece and piece.block and (piece.block.locations or {})[1]
  return location and require('tark.links').of_location(location)
end

function M.send()
  require('tark.chat.send').send()
end

function M.steer()
  require('tark.chat.send').steer()
end

function M.cancel()
  require('tark.chat.send').cancel()
end

---@param step string
function M.recall(step)
  require('tark.chat.prompt').recall(tonumber(step))
end

function M.follow()
  local link = link_here() or location_here()
  if link then
    require('tark.links').follow(link, client())
  else
    require('tark.notify').say('no file is named here')
  end
end

function M.browse()
  local url = require('tark.links').url_at(vim.api.nvim_get_current_line(), vim.api.nvim_win_get_cursor(0)[2] + 1)
  if not url then
    return require('tark.notify').say('no web page is named here')
  end
  local _, problem = vim.ui.open(url)
  if problem then
    require('tark.notify').warn(problem)
  end
end

---The question about the tool call that waits, else the one that is asked first.
---@param call_id string
---@param known tark.State
local function answer(call_id, known)
  for _, request in ipairs(known.permissions) do
    if vim.list_contains(request.toolCallIds or {}, call_id) then
      return require('tark.waiting.go').to(request.requestId)
    end
  end
  require('tark').permission()
end

function M.enter()
  local piece = piece_here()
  local known = require('tark.chat').known()
  if require('tark.chat.view').is_header(vim.api.nvim_win_get_cursor(0)[1]) then
    local _, talk = require('tark.state').current(known)
    if known and talk.earlier then
      require('tark.sessions').earlier(known, known.session_id)
    end
  elseif known and piece and piece.block and piece.block.status == 'waiting' then
    answer(piece.block.toolCallId, known)
  elseif link_here() then
    M.follow()
  else
    M.toggle('')
  end
end

---@param how string 'open', 'close', or the other way round
function M.toggle(how)
  local opened = nil
  if how ~= '' then
    opened = how == 'open'
  end
  require('tark.chat.view').toggle(vim.api.nvim_win_get_cursor(0)[1], opened)
end

---@param how string
function M.toggle_all(how)
  require('tark.chat.view').toggle_all(how == 'open')
end

---@param step string
function M.turn(step)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local target ---@type integer?
  for _, each in ipairs(require('tark.chat.view').turn_lines()) do
    if step == '1' and each > line then
      target = target or each
    elseif step == '-1' and each < line then
      target = each
    end
  end
  if target then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { target, 0 })
  end
end

---On a prompt; elsewhere `e` is the motion it always is.
function M.edit()
  local piece = piece_here()
  if piece and piece.kind == 'prompt' and not piece.block then
    require('tark.chat.send').edit(piece.turn)
    require('tark.chat').focus_prompt()
  else
    vim.cmd.normal({ vim.v.count1 .. 'e', bang = true })
  end
end

function M.type()
  require('tark.chat').focus_prompt()
  vim.cmd.startinsert({ bang = true })
end

function M.hide()
  require('tark.chat').hide()
end

function M.help()
  require('tark.chat.keys').help()
end

return M
