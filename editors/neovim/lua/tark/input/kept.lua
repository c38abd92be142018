---What the person wrote and nobody takes any more is not lost: it is kept in a buffer, one below the other.
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

---Also in the history of inputs, which is there when Neovim has ended, too.
---@param text string
---@param why string
function M.keep(text, why)
  if not text:find('%S') then
    return
  end
  vim.fn.histadd('input', text)
  local bufnr = buffer()
  vim.bo[bufnr].modifiable = true
  local lines, empty = vim.split(text, '\n'), vim.api.nvim_buf_get_lines(bufnr, 0, 2, false)
  if #empty == 1 and empty[1] == '' then
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  else
    vim.api.nvim_buf_set_lines(bufnr, -1, -1, false, vim.list_extend({ '' }, lines))
  end
  require('tark.notify').warn(('%s: what you wrote is kept (:buffer %s)'):format(why, NAME))
end

return M
