---Follows the server's work-done progress.
local clients = require('tark.server.clients')
local state = require('tark.state')

local M = {}

---@param server_state tark.State
---@param token string|integer
---@param value { kind: string, title?: string, message?: string }
local function set_progress(server_state, token, value)
  local is_end = value.kind == 'end'
  server_state.tokens[token] = not is_end or nil
  server_state.activity = is_end and '' or value.message or server_state.activity
  state.emit('progress', server_state)
end

vim.api.nvim_create_autocmd('LspProgress', {
  group = vim.api.nvim_create_augroup('tark_progress', {}),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == clients.NAME then
      local params = event.data.params
      set_progress(state.of_client(client.id), params.token, params.value)
    end
  end,
})

return M
