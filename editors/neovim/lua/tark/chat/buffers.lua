---The chat's two buffers: the transcript, which only view.lua writes, and the prompt, which is the person's.
local M = {}

local TRANSCRIPT = 'tark://chat/transcript'
local PROMPT = 'tark://chat/prompt.tark.md' -- the server completes documents of such a name

local unsent ---@type string[]? of a prompt that was unloaded

---@param name string
---@param filetype string
---@return integer bufnr
---@return boolean fresh
local function loaded(name, filetype)
  local bufnr = vim.fn.bufadd(name)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    return bufnr, false
  end
  local options = vim.bo[bufnr]
  options.buftype, options.swapfile, options.undofile, options.buflisted = 'nofile', false, false, false
  vim.fn.bufload(bufnr)
  options.bufhidden, options.modeline = 'hide', false
  options.filetype = filetype
  local part = filetype == 'tark' and 'transcript' or 'prompt'
  require('tark.highlights')
  require('tark.chat.markdown').highlight(bufnr, part)
  require('tark.chat.keys').map(bufnr, part)
  return bufnr, true
end

---@return integer bufnr
function M.transcript()
  local bufnr, fresh = loaded(TRANSCRIPT, 'tark')
  if fresh then
    vim.bo[bufnr].undolevels = -1
    vim.bo[bufnr].modifiable = false
    vim.api.nvim_create_autocmd('BufReadCmd', { -- `:edit` in it
      buffer = bufnr,
      callback = vim.schedule_wrap(function()
        require('tark.chat.markdown').highlight(bufnr, 'transcript')
        require('tark.chat.view').touch()
      end),
    })
  end
  return bufnr
end

---@return integer bufnr
function M.prompt()
  local bufnr, fresh = loaded(PROMPT, 'tark_prompt')
  if fresh then
    local before = unsent or require('tark.chat.unsent').take()
    if before then
      vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, before)
    end
    vim.bo[bufnr].completeopt = 'menuone,noselect,popup,fuzzy' -- the server finds a path by any part of it
    require('tark.chat.prompt').watch(bufnr)
    vim.api.nvim_create_autocmd('BufUnload', {
      buffer = bufnr,
      callback = function()
        unsent = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
        require('tark.chat.prompt').detach()
      end,
    })
    vim.api.nvim_create_autocmd('BufReadCmd', { -- `:edit` in it
      buffer = bufnr,
      callback = function()
        vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, unsent)
        vim.schedule(require('tark.chat').reattach)
      end,
    })
  end
  return bufnr
end

return M
