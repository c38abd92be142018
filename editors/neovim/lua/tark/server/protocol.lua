---The version of docs/protocol.md that this plugin speaks, and a check whether the server speaks it.
local notify = require('tark.notify')

local M = {}

M.VERSION = 1 -- of the tark/* messages and commands

M.CAPABILITIES = {
  protocol = M.VERSION,
  -- Settings come from `setup` in the user's init.lua. Neovim runs the `.nvim.lua` of a project only if the user trusts
  -- it.
  userSettings = true,
  updates = true,
  permission = true,
  input = true,
  clientState = true,
  languageServers = true,
  save = true,
  review = true,
  mcp = true,
}

---If the server speaks another version, tells the user what to do. The plugin continues as far as it can.
---@param result lsp.InitializeResult
function M.check_version(result)
  local spoken = vim.tbl_get(result, 'capabilities', 'experimental', 'tark', 'protocol')
  local info = result.serverInfo or {}
  local name = vim.trim(('%s %s'):format(info.name or 'the server', info.version or ''))
  local problem
  if not spoken and info.name ~= 'tark-lsp' then
    problem = ('%s is not a tark-lsp: see cmd of require("tark").setup'):format(name)
  elseif type(spoken) ~= 'number' or spoken < M.VERSION then
    problem = ('%s is too old for this plugin: update it'):format(name)
  elseif spoken > M.VERSION then
    problem = ('%s is too new for this plugin: run `tark-lsp install neovim`'):format(name)
  end
  if problem then
    notify.warn(problem .. ' (:checkhealth tark)')
  end
end

return M
