---Hover, completion and definition in chats (`*.tark.md`, and the prompt). The server does not announce these features,
---because Neovim would then set `K`, `omnifunc` and `tagfunc` in every buffer. Instead, a second client inside Neovim
---announces them. It is attached only to chats, and passes each request on to the server of that chat.
local clients = require('tark.server.clients')
local lifecycle = require('tark.server.lifecycle')

local M = {}

local NAME = 'tark_chat'
local CAPABILITIES = {
  hoverProvider = true,
  definitionProvider = true,
  completionProvider = { triggerCharacters = { '@', ':', '/' } },
}

---@param params { textDocument: lsp.TextDocumentIdentifier }
---@return vim.lsp.Client?
local function server_of(params)
  return clients.find_running({ bufnr = vim.uri_to_bufnr(params.textDocument.uri) })
end

---The interface of this second client: it looks like a language server to Neovim.
---@param encoding string of positions
---@return fun(dispatchers: vim.lsp.rpc.Dispatchers): vim.lsp.rpc.PublicClient
local function rpc(encoding)
  return function(dispatchers)
    local closing = false
    local asked = {} ---@type table<integer, vim.lsp.Client> the server of each request, by the server's id of it
    local function finish()
      if not closing then
        closing = true
        dispatchers.on_exit(0, 0)
      end
    end
    local function request(method, params, done, replied)
      if method == 'initialize' then
        done(nil, { capabilities = vim.tbl_extend('force', CAPABILITIES, { positionEncoding = encoding }) })
        return true, 0
      end
      local server = method ~= 'shutdown' and server_of(params)
      if not server then
        done(nil, nil)
        return true, 0
      end
      local sent, id
      sent, id = server:request(method, params, function(problem, result)
        asked[id] = nil
        if replied then
          replied(id)
        end
        done(problem, result)
      end)
      if id then
        asked[id] = server
      end
      return sent, id
    end
    local function notify(method, params)
      if method == 'exit' then
        finish()
      elseif method == '$/cancelRequest' and asked[params.id] then
        asked[params.id]:cancel_request(params.id)
      end
      return true
    end
    local function is_closing()
      return closing
    end
    return { request = request, notify = notify, is_closing = is_closing, terminate = finish }
  end
end

---@param bufnr integer a chat that the server knows
---@param server vim.lsp.Client
---@return integer? client_id
function M.attach(bufnr, server)
  local config = { name = NAME, cmd = rpc(server.offset_encoding), root_dir = server.root_dir }
  return vim.lsp.start(config, { bufnr = bufnr, silent = true })
end

lifecycle.on('attached', function(server, bufnr)
  if vim.api.nvim_buf_get_name(bufnr):match('%.tark%.md$') then
    M.attach(bufnr, server)
  end
end)

return M
