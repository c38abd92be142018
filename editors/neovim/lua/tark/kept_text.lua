---Keeps text that the user wrote and that can no longer be sent, in a buffer, one text below the other.
local notify = require('tark.notify')

local M = {}

local NAME = 'tark://kept'

---@return integer bufnr
local function buffer()
  local bufnr = vim.fn.bufadd(NAME)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    vim.bo[bufnr].buftype, vim.bo[bufnr].bufhidden, vim.bo[bufnr].swapfile = 'nofile', 'hide', false
    vim.fn.bufload(bufnr)
  end
  return bufnr
end

---Also adds the text to the history of inputs, which is kept when Neovim ends.
---@param text string
---@param reason string why it cannot be sent
function M.keep(text, reason)
  if not text:find('%S') then
    return
  end
  vim.fn.histadd('input', text)
  local bufnr = buffer()
  vim.bo[bufnr].modifiable = true
  local lines, former = vim.split(text, '\n'), vim.api.nvim_buf_get_lines(bufnr, 0, 2, false)
  if #former == 1 and former[1] == '' then
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  else
    vim.api.nvim_buf_set_lines(bufnr, -1, -1, false, vim.list_extend({ '' }, lines))
  end
  notify.warn(('%s: your text is kept (:buffer %s)'):format(reason, NAME))
end

return M
