---What of docs/protocol.md this plugin speaks, and whether the server speaks it, too.
local M = {}

M.VERSION = 1 -- of the tark/* messages and commands

M.CAPABILITIES = {
  protocol = M.VERSION,
  -- Settings come from `setup` in the person's own init.lua; a `.nvim.lua` of a project is run only once they trust it.
  userSettings = true,
  updates = true,
  permission = true,
  input = true,
  clientState = true,
  save = true,
  review = true,
}

---Where it does not, the person is told what to do; the plugin goes on where it can.
---@param result lsp.InitializeResult
function M.check(result)
  local spoken = vim.tbl_get(result, 'capabilities', 'experimental', 'tark', 'protocol')
  local info = result.serverInfo or {}
  local name = vim.trim(('%s %s'):format(info.name or 'the server', info.version or ''))
  local problem
  if not spoken and info.name ~= 'tark-lsp' then
    problem = ('%s is no tark-lsp: see cmd of require("tark").setup'):format(name)
  elseif type(spoken) ~= 'number' or spoken < M.VERSION then
    problem = ('%s is too old for this plugin: update it'):format(name)
  elseif spoken > M.VERSION then
    problem = ('%s is too new for this plugin: run `tark-lsp install neovim`'):format(name)
  end
  if problem then
    require('tark.notify').warn(problem .. ' (:checkhealth tark)')
  end
end

return M
