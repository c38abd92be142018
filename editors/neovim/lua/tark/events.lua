---User autocommands, for what a person's own configuration does at a turn, a hunk or a permission (doc/tark.txt).
local state = require('tark.state')

---What fails in an autocommand is told by Neovim, and goes no further.
---@param pattern 'TarkTurnStart'|'TarkTurnEnd'|'TarkHunks'|'TarkPermission'
---@param data table
local function fire(pattern, data)
  vim.api.nvim_exec_autocmds('User', { pattern = pattern, modeline = false, data = data })
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

---All that waits for the person, whichever of it changed.
---@param known tark.State
local function waiting(known)
  local all = {}
  for _, kind in ipairs({ 'permission', 'input' }) do
    for _, request in ipairs(known[kind .. 's']) do
      table.insert(all, vim.tbl_extend('force', request, { kind = kind }))
    end
  end
  fire('TarkPermission', { clientId = known.client_id, waiting = all })
end

state.on('permission', waiting)
state.on('input', waiting)

return {}
