-- The standard place of a language server's configuration: `vim.lsp.config('tark', {...})` adds to it.
return require('tark.server').client_config()
