---Shows what the user can approve, in full, in a float: `y` approves it, `n` or `q` closes the float.
local float = require('tark.float')
local visible = require('tark.visible')

local M = {}

local NAME = 'tark://offer'

---@class tark.Offer
---@field title string
---@field text string
---@field is_diff boolean
---@field yes? [string, fun()] a description of what `y` does, and the function; nil: there is nothing to approve

local current ---@type { bufnr: integer, offer: tark.Offer }?

function M.close()
  local shown = current
  current = nil
  if shown and vim.api.nvim_buf_is_valid(shown.bufnr) then
    vim.api.nvim_buf_delete(shown.bufnr, { force = true })
  end
end

---Approves once: a second `y` does nothing.
local function say_yes()
  local yes = current and current.offer.yes
  if yes then
    M.close()
    yes[2]()
  end
end

---Replaces what is shown.
---@param offer tark.Offer
function M.show(offer)
  M.close()
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, ('%s/%d'):format(NAME, bufnr))
  vim.bo[bufnr].bufhidden = 'wipe'
  local text = visible.code((offer.text:gsub('\n$', '')))
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(text, '\n'))
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = offer.is_diff and 'diff' or 'tark_offer'
  current = { bufnr = bufnr, offer = offer }
  local keys = offer.yes and ('y %s · n closes it'):format(offer.yes[1]) or 'q closes it'
  local window = float.open(bufnr, ('%s · %s'):format(offer.title, keys), { width = 100, minimal = true })
  vim.wo[window].wrap = true
  local function map(lhs, run, desc)
    vim.keymap.set('n', lhs, run, { buffer = bufnr, nowait = true, desc = 'Tark: ' .. desc })
  end
  map('y', say_yes, 'Approve what is shown')
  map('n', M.close, 'No')
  map('q', M.close, 'Close it')
end

return M
