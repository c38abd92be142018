---Saves documents for the server as the user's `:update` would: with the user's formatters, and never by force.
local file_stamps = require('tark.file_stamps')
local unnamed = require('tark.unnamed')
local workspace = require('tark.workspace')

local M = {}

---Not if `:update` would ask something (the file has changed, or is read-only under 'confirm'): the user decides that.
---@param bufnr integer
---@return boolean
local function can_be_written(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  return vim.bo[bufnr].buftype == ''
    and not unnamed.has_given_name(bufnr)
    and not vim.bo[bufnr].readonly
    and file_stamps.is_unchanged(bufnr)
    and (vim.uv.fs_stat(name) == nil or vim.fn.filewritable(name) == 1)
end

---@param bufnr integer
---@return boolean saved
local function save(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return false
  end
  if vim.bo[bufnr].modified and can_be_written(bufnr) then
    local ok, problem = pcall(vim.api.nvim_buf_call, bufnr, function()
      vim.cmd('silent update')
    end)
    if not ok then
      require('vim.lsp.log').warn('tark', 'save', vim.api.nvim_buf_get_name(bufnr), problem)
    end
  end
  return vim.api.nvim_buf_is_valid(bufnr) and not vim.bo[bufnr].modified
end

---Answers `tark/save`.
---@param params { uris: string[] }
---@return { saved: string[] }
function M.answer(params)
  local saved = {}
  for _, uri in ipairs(params.uris or {}) do
    local bufnr = workspace.find_buffer(uri)
    if bufnr and save(bufnr) then
      table.insert(saved, uri)
    end
  end
  return { saved = saved }
end

return M
