-- Loaded at every start of Neovim, so it does next to nothing: the rest is loaded with the first file or command.
if vim.g.loaded_tark then
  return
end
vim.g.loaded_tark = true

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = vim.api.nvim_create_augroup('tark', {}),
  callback = function(event)
    vim.schedule(function()
      require('tark.autostart').opened(event.buf)
    end)
  end,
})
