---All highlight groups of the plugin, and what they look like where a colour scheme does not say.
local M = {}

---@type table<string, string> name -> the group it looks like
M.LINKS = {
  -- Review: the lines of a hunk, the words that differ in them, its sign, and what is said beside its first line.
  TarkAdded = 'DiffAdd',
  TarkAddedWord = 'DiffText',
  TarkAddedSign = 'Added',
  TarkRemoved = 'DiffDelete',
  TarkRemovedWord = 'DiffText',
  TarkRemovedSign = 'Removed',
  TarkConflict = 'DiffChange',
  TarkConflictSign = 'DiagnosticSignWarn',
  TarkConflictText = 'DiagnosticVirtualTextWarn',
  TarkFileOperation = 'DiagnosticVirtualTextWarn',
  TarkHint = 'NonText',
}

---Colours that a person or a colour scheme gave these groups stay.
local function set()
  for name, link in pairs(M.LINKS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

set()
vim.api.nvim_create_autocmd('ColorScheme', {
  group = vim.api.nvim_create_augroup('tark_highlights', {}),
  desc = 'Tark: highlight groups of its own',
  callback = set,
})

return M
