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
  -- Chat: who speaks, calls and how they stand, what is told beside the answer, code that was jumped to.
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
  -- What waits for the person: the float, what it is about, its keys, and how risky it is.
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
