---What the keys of the chat do (chat/keys.lua).
local focus = require('tark.waiting.focus')
local keys = require('tark.chat.keys')
local links = require('tark.chat.links')
local notify = require('tark.notify')
local panel = require('tark.chat.panel')
local prompt = require('tark.chat.prompt')
local send = require('tark.chat.send')
local session_loader = require('tark.state.session_loader')
local shown_session = require('tark.chat.shown_session')
local state = require('tark.state')
local view = require('tark.chat.view')

local M = {}

M.send, M.steer, M.cancel = send.send, send.steer, send.cancel
M.hide, M.help = panel.hide, keys.show_help

---@return integer line from 1
local function cursor_line()
  return vim.api.nvim_win_get_cursor(0)[1]
end

---@return integer column from 1, in bytes
local function cursor_column()
  return vim.api.nvim_win_get_cursor(0)[2] + 1
end

---@return tark.Piece?
local function piece_at_cursor()
  return (view.piece_at(cursor_line()))
end

---@return tark.Link?
local function link_at_cursor()
  return links.at(vim.api.nvim_get_current_line(), cursor_column())
end

---@return tark.Link? the location of the tool call at the cursor
local function location_at_cursor()
  local piece = piece_at_cursor()
  local location = piece and piece.block and (piece.block.locations or {})[1]
  return location and links.of_location(location)
end

---Neovim's own key closes the menu if no entry is selected.
function M.take_entry()
  local menu = vim.fn.complete_info({ 'pum_visible', 'selected' })
  local typed = menu.pum_visible == 1 and menu.selected == -1 and '<C-n><C-y>' or '<C-y>'
  vim.api.nvim_feedkeys(vim.keycode(typed), 'n', false)
end

---@param step string
function M.recall(step)
  prompt.recall(tonumber(step))
end

function M.follow()
  local link = link_at_cursor() or location_at_cursor()
  if link then
    links.follow(link, shown_session.client())
  else
    notify.info('no file is named here')
  end
end

function M.browse()
  local url = links.url_at(vim.api.nvim_get_current_line(), cursor_column())
  if not url then
    return notify.info('no web page is named here')
  end
  local _, problem = vim.ui.open(url)
  if problem then
    notify.warn(problem)
  end
end

---Goes to the question about the waiting tool call, or to the first question if there is none about it.
---@param call_id string
---@param server_state tark.State
local function answer_call(call_id, server_state)
  for _, request in ipairs(server_state.permissions) do
    if vim.list_contains(request.toolCallIds or {}, call_id) then
      return focus.focus_request(request.requestId)
    end
  end
  focus.choose()
end

function M.enter()
  local piece = piece_at_cursor()
  local server_state = shown_session.state()
  if view.is_header(cursor_line()) then
    local _, transcript = state.current_session(server_state)
    if server_state and transcript.earlier then
      session_loader.load_earlier(server_state, server_state.session_id)
    end
  elseif server_state and piece and piece.block and piece.block.status == 'waiting' then
    answer_call(piece.block.toolCallId, server_state)
  elseif link_at_cursor() then
    M.follow()
  else
    M.toggle('')
  end
end

---@param how string 'open', 'close', or '' to toggle
function M.toggle(how)
  local opened = nil
  if how ~= '' then
    opened = how == 'open'
  end
  view.toggle(cursor_line(), opened)
end

---@param how string
function M.toggle_all(how)
  view.toggle_all(how == 'open')
end

---@param step string
function M.go_to_turn(step)
  local line = cursor_line()
  local target ---@type integer?
  for _, turn_line in ipairs(view.turn_lines()) do
    if step == '1' and turn_line > line then
      target = target or turn_line
    elseif step == '-1' and turn_line < line then
      target = turn_line
    end
  end
  if target then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { target, 0 })
  end
end

---On a prompt: edits it. Elsewhere `e` is the usual motion.
function M.edit()
  local piece = piece_at_cursor()
  if piece and piece.kind == 'prompt' and not piece.block then
    send.edit(piece.turn)
    panel.focus_prompt()
  else
    vim.cmd.normal({ vim.v.count1 .. 'e', bang = true })
  end
end

function M.type()
  panel.focus_prompt()
  vim.cmd.startinsert({ bang = true })
end

return M
