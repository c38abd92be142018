-- A person's init.lua with our plugin, from this checkout. The tests give the server's command by PYTHON.
vim.opt.runtimepath:prepend(vim.env.PLUGIN)
require('tark').setup({
  cmd = { vim.env.PYTHON, '-m', 'tark_lsp' },
  root_markers = { '.project' },
})
