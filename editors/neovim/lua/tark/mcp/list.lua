---`:TarkMcp`: the list of MCP servers and hooks in a separate window. It is updated when the server reports changes.
local actions = require('tark.mcp.actions')
local lifecycle = require('tark.server.lifecycle')
local notify = require('tark.notify')
local requests = require('tark.server.requests')
local rows = require('tark.mcp.rows')
local state = require('tark.state')

local M = {}

local NAME = 'tark://mcp'
local HEIGHT = 15

local namespace = vim.api.nvim_create_namespace('tark_mcp')
local shown = {} ---@type tark.McpRow[]
local unfolded = {} ---@type table<string, true>
local bufnr ---@type integer?
local reading, again = false, false

---@param new tark.McpRow[]
local function draw(new)
  if not bufnr or not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  shown = new
  local lines = vim.tbl_map(function(row)
    return row.text
  end, new)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  for number, row in ipairs(new) do
    local _, last = row.text:find('^%s*[^%s]+')
    local is_whole = row.kind == 'head' or row.kind == 'note' or row.kind == 'problem'
    local mark = { end_col = is_whole and #row.text or last or 0, hl_group = row.group }
    vim.api.nvim_buf_set_extmark(bufnr, namespace, number - 1, 0, mark)
  end
end

---Reads the list again, one request at a time. Reads nothing while no window shows the list.
local function refresh()
  again = true
  if reading or not bufnr or not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  reading, again = true, false
  local function done(problem)
    reading = false
    if problem then
      notify.warn(problem)
    elseif again then
      refresh()
    end
  end
  lifecycle.ensure_server(nil, function(problem, client)
    if not client then
      return done(problem or 'no server is running')
    end
    requests.send_command(client, 'tark.mcp.list', {}, function(refusal, servers)
      if refusal then
        return done(refusal)
      end
      requests.send_command(client, 'tark.hooks.list', {}, function(refused, hooks)
        if not refused then
          draw(rows.of(servers, hooks, unfolded))
        end
        done(refused)
      end)
    end)
  end)
end

---@return tark.McpRow
local function row_at_cursor()
  return shown[vim.api.nvim_win_get_cursor(0)[1]] or {}
end

---@param kinds string[]
---@param run fun(row: tark.McpRow)
---@return fun()
local function on(kinds, run)
  return function()
    local row = row_at_cursor()
    if not vim.list_contains(kinds, row.kind) then
      return notify.info('go to the line of a server or hook first')
    end
    run(row)
  end
end

---@param row tark.McpRow
local function open(row)
  if row.kind == 'hook' or row.state == 'waiting' or row.state == 'changed' or row.state == 'new' then
    return actions.approve(row.kind == 'hook' and 'hook' or 'server', row.name)
  end
  unfolded[row.name] = not unfolded[row.name] or nil
  refresh()
end

---@param row tark.McpRow
local function approve(row)
  actions.approve(row.kind == 'hook' and 'hook' or 'server', row.name)
end

---Key, function, description.
M.KEYS = {
  { '<CR>', on({ 'server', 'tool', 'hook' }, open), 'Approve it, or show its tools' },
  { 'a', on({ 'server', 'tool', 'hook' }, approve), 'Show it in full, and approve it' },
  { 'x', on({ 'server', 'tool' }, actions.switch), 'Switch the server or tool on or off' },
  { 'r', on({ 'server', 'tool' }, actions.restart), 'Restart the server' },
  { 'l', on({ 'server', 'tool' }, actions.log), 'Show the log of the server' },
  { 'dd', on({ 'server', 'hook' }, actions.remove), 'Remove it, or forget its approval' },
  { 'o', actions.add, 'Add a server' },
  {
    't',
    function()
      actions.trust(refresh)
    end,
    'Trust this folder',
  },
  {
    'q',
    function()
      vim.cmd.close()
    end,
    'Close the list',
  },
}

---@return integer
local function new_buffer()
  local created = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(created, NAME)
  vim.bo[created].bufhidden = 'wipe'
  vim.bo[created].filetype = 'tark_mcp'
  vim.bo[created].modifiable = false
  for _, key in ipairs(M.KEYS) do
    vim.keymap.set('n', key[1], key[2], { buffer = created, nowait = true, desc = 'Tark: ' .. key[3] })
  end
  return created
end

function M.show()
  local window = bufnr and vim.fn.win_findbuf(bufnr)[1]
  if window then
    vim.api.nvim_set_current_win(window)
  else
    bufnr = new_buffer()
    vim.cmd(('botright %dsplit'):format(HEIGHT))
    vim.api.nvim_win_set_buf(0, bufnr)
    vim.wo[0][0].wrap = false
    vim.wo[0][0].number = false
    vim.wo[0][0].winfixheight = true
  end
  refresh()
end

state.on('mcp', vim.schedule_wrap(refresh))
state.on('server', vim.schedule_wrap(refresh))

return M
