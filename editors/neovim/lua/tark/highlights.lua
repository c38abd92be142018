---All highlight groups of the plugin, and their links if a colour scheme does not define them.
local M = {}

---@type table<string, string> name -> the group it is linked to
M.LINKS = {
  -- Review: the lines of a hunk, the words that differ in them, its sign, and the hint beside its first line.
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
  -- Chat: headings, tool calls by their status, notices beside the answer, code that the user jumped to.
  TarkYou = 'Title',
  TarkTark = 'Special',
  TarkTool = 'Comment',
  TarkToolRunning = 'DiagnosticInfo',
  TarkToolWaiting = 'DiagnosticWarn',
  TarkToolDone = 'DiagnosticOk',
  TarkToolFailed = 'DiagnosticError',
  TarkToolCancelled = 'Comment',
  TarkThinking = 'Comment',
  TarkUsage = 'Comment',
  TarkNotice = 'DiagnosticInfo',
  TarkWarning = 'DiagnosticWarn',
  TarkError = 'DiagnosticError',
  TarkLink = 'IncSearch',
  -- What waits for the user: the float, its subject, its keys, and its risk.
  TarkFloat = 'NormalFloat',
  TarkFloatBorder = 'FloatBorder',
  TarkFloatTitle = 'FloatTitle',
  TarkWaitingSubject = 'Title',
  TarkQuoteSign = 'NonText',
  TarkKey = 'Special',
  TarkLabel = 'Comment',
  TarkFaint = 'Comment',
  TarkFile = 'Directory',
  TarkRiskNone = 'DiagnosticOk',
  TarkRiskWrite = 'DiagnosticInfo',
  TarkRiskRisky = 'DiagnosticWarn',
  TarkRiskDangerous = 'ErrorMsg',
}

---Defines the groups, except those that the user or a colour scheme has defined.
local function set()
  for name, link in pairs(M.LINKS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

set()
vim.api.nvim_create_autocmd('ColorScheme', {
  group = vim.api.nvim_create_augroup('tark_highlights', {}),
  desc = 'Tark: define its highlight groups',
  callback = set,
})

return M
