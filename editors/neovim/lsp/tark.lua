-- The standard place of a language server's configuration. `vim.lsp.config('tark', {...})` extends it.
require('tark.startup')
return require('tark.server.lifecycle').client_config()
