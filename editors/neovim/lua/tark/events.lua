---User autocommands, for what a person's own configuration does at a turn, a hunk or a permission (doc/tark.txt).
local state = require('tark.state')

---@param pattern 'TarkTurnStart'|'TarkTurnEnd'|'TarkHunks'|'TarkPermission'
---@param data table
local function fire(pattern, data)
  local ok, problem = pcall(vim.api.nvim_exec_autocmds, 'User', { pattern = pattern, modeline = false, data = data })
  if not ok then
    require('tark.notify').warn(('an autocommand for %s failed: %s'):format(pattern, problem))
  end
end

state.on('update', function(known, params)
  local update = params.update
  local pattern = ({ start = 'TarkTurnStart', ['end'] = 'TarkTurnEnd' })[update.kind]
  if pattern then
    local data = { clientId = known.client_id, sessionId = params.sessionId, turnId = params.turnId }
    fire(pattern, vim.tbl_extend('keep', data, update))
  end
end)

state.on('hunks', function(known, uri)
  local of = known.hunks[uri]
  fire('TarkHunks', { clientId = known.client_id, uri = uri, hunks = of and of.hunks or {} })
end)

state.on('permission', function(known)
  fire('TarkPermission', { clientId = known.client_id, waiting = known.permissions })
end)

return {}
