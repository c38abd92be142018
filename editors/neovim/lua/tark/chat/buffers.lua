---The chat's two buffers: the transcript, which only view.lua writes, and the prompt, which belongs to the user.
local listeners = require('tark.listeners')
local markdown = require('tark.chat.markdown')
local view = require('tark.chat.view')

require('tark.highlights')

local M = {}

---@alias tark.ChatPart 'transcript'|'prompt'

local NAMES = {
  transcript = 'tark://chat/transcript',
  prompt = 'tark://chat/prompt.tark.md', -- the server completes in documents with such a name
}
local FILETYPES = { transcript = 'tark', prompt = 'tark_prompt' }

local events = listeners.new()

---@param listener fun(bufnr: integer, part: tark.ChatPart) called when a buffer is created, or loaded again
function M.on_created(listener)
  events:on('created', listener)
end

---@param bufnr integer
local function set_up_transcript(bufnr)
  vim.bo[bufnr].undolevels = -1
  vim.bo[bufnr].modifiable = false
  vim.api.nvim_create_autocmd('BufReadCmd', { -- `:edit` in it
    buffer = bufnr,
    callback = vim.schedule_wrap(function()
      markdown.highlight(bufnr, 'transcript')
      view.mark_stale()
    end),
  })
end

---@param part tark.ChatPart
---@return integer bufnr
local function ensure_buffer(part)
  local bufnr = vim.fn.bufadd(NAMES[part])
  if vim.api.nvim_buf_is_loaded(bufnr) then
    return bufnr
  end
  local options = vim.bo[bufnr]
  options.buftype, options.swapfile, options.undofile, options.buflisted = 'nofile', false, false, false
  vim.fn.bufload(bufnr)
  options.bufhidden, options.modeline = 'hide', false
  options.filetype = FILETYPES[part]
  markdown.highlight(bufnr, part)
  if part == 'transcript' then
    set_up_transcript(bufnr)
  end
  events:emit('created', bufnr, part)
  return bufnr
end

---@return integer bufnr
function M.transcript()
  return ensure_buffer('transcript')
end

---@return integer bufnr
function M.prompt()
  return ensure_buffer('prompt')
end

return M
