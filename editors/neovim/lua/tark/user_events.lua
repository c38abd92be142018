---Fires User autocommands for the user's own configuration (doc/tark.txt).
local state = require('tark.state')

---If an autocommand fails, Neovim shows the error, and the plugin continues.
---@param pattern 'TarkTurnStart'|'TarkTurnEnd'|'TarkHunks'|'TarkPermission'
---@param data table
local function fire(pattern, data)
  vim.api.nvim_exec_autocmds('User', { pattern = pattern, modeline = false, data = data })
end

state.on('update', function(server_state, params)
  local update = params.update
  local pattern = ({ start = 'TarkTurnStart', ['end'] = 'TarkTurnEnd' })[update.kind]
  if pattern then
    local data = { clientId = server_state.client_id, sessionId = params.sessionId, turnId = params.turnId }
    fire(pattern, vim.tbl_extend('keep', data, update))
  end
end)

state.on('hunks', function(server_state, uri)
  local document = server_state.hunks[uri]
  fire('TarkHunks', { clientId = server_state.client_id, uri = uri, hunks = document and document.hunks or {} })
end)

---The data contains everything that waits for the user.
---@param server_state tark.State
local function fire_permission(server_state)
  local all = {}
  for _, kind in ipairs({ 'permission', 'input' }) do
    for _, request in ipairs(server_state[kind .. 's']) do
      table.insert(all, vim.tbl_extend('force', request, { kind = kind }))
    end
  end
  fire('TarkPermission', { clientId = server_state.client_id, waiting = all })
end

state.on('permission', fire_permission)
state.on('input', fire_permission)

return {}
