-- All that a person writes into their init.lua to have tark_lsp, no plugin. The tests give the command by PYTHON.
vim.lsp.config('tark', {
  cmd = { vim.env.PYTHON, '-m', 'tark_lsp' },
  filetypes = { 'python', 'markdown' },
  root_markers = { '.project' },
})
vim.lsp.enable('tark')

-- The rest is in docs/neovim.md, too.
-- The diff of the hunk at the cursor
vim.keymap.set('n', '<leader>ad', function()
  local tark = vim.lsp.get_clients({ name = 'tark', bufnr = 0 })[1]
  local params = tark and vim.lsp.util.make_position_params(0, tark.offset_encoding)
  return tark
    and tark:request('textDocument/hover', params, function(_, hover)
      if hover then
        vim.lsp.util.open_floating_preview(vim.split(hover.contents.value, '\n'), 'markdown')
      end
    end)
end, { desc = 'Tark: show the hunk' })

-- Hover, completion and definition in chats: a client inside Neovim that passes requests on to the server
local function chat_client(dispatchers)
  local closing = false
  local function finish()
    closing = true
    dispatchers.on_exit(0, 0)
  end
  return {
    request = function(method, params, done)
      local chat = params and params.textDocument and vim.uri_to_bufnr(params.textDocument.uri)
      local tark = chat and vim.lsp.get_clients({ name = 'tark', bufnr = chat })[1]
      if tark then
        return tark:request(method, params, done)
      end
      done(nil, method == 'initialize' and {
        capabilities = {
          completionProvider = { triggerCharacters = { '@', ':', '/' } },
          definitionProvider = true,
          hoverProvider = true,
          positionEncoding = 'utf-8',
        },
      } or nil)
      return true, 0
    end,
    notify = function(method)
      return method == 'exit' and finish()
    end,
    is_closing = function()
      return closing
    end,
    terminate = finish,
  }
end
vim.api.nvim_create_autocmd('LspAttach', {
  pattern = '*.tark.md',
  callback = function(event)
    if vim.lsp.get_client_by_id(event.data.client_id).name == 'tark' then
      vim.lsp.start({ name = 'tark_chat', cmd = chat_client }, { bufnr = event.buf })
    end
  end,
})
