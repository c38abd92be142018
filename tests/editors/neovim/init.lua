-- All that a person writes into their init.lua to have tark_lsp, no plugin. The tests give the command by PYTHON.
vim.lsp.config('tark', {
  cmd = { vim.env.PYTHON, '-m', 'tark_lsp' },
  filetypes = { 'python', 'markdown' },
  root_markers = { '.project' },
})
vim.lsp.enable('tark')
