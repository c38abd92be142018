---The prompt's text: what was typed is never lost, earlier prompts come back, and the server completes mentions in it.
local buffers = require('tark.chat.buffers')

local M = {}

local HINT = 'Ask, or /name · @ mentions · %s sends · g? keys'
local namespace = vim.api.nvim_create_namespace('tark_chat_prompt')

local history = {} ---@type string[] what was sent, the oldest first
local at ---@type integer? of the history that is shown
local unsent = '' -- what was there before the history was gone through
local completing ---@type { client_id: integer, bufnr: integer }?

---@return string
function M.text()
  return table.concat(vim.api.nvim_buf_get_lines(buffers.prompt(), 0, -1, false), '\n')
end

---@param words string
function M.set(words)
  local bufnr = buffers.prompt()
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(words, '\n'))
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    local last = vim.api.nvim_buf_line_count(bufnr)
    vim.api.nvim_win_set_cursor(window, { last, #vim.api.nvim_buf_get_lines(bufnr, last - 1, last, false)[1] })
  end
  M.changed()
end

---What was on its way and was not taken, above what has been typed since.
---@param words string
function M.give_back(words)
  local typed = M.text()
  M.set(typed:find('%S') and words .. '\n\n' .. typed or words)
end

---@param words string
function M.remember(words)
  if history[#history] ~= words then
    table.insert(history, words)
  end
  at = nil
end

---@param step integer -1: an earlier prompt, 1: a later one
function M.recall(step)
  local text = M.text()
  if not at or text ~= (history[at] or unsent) then -- typed, or changed after it was recalled
    unsent, at = text, #history + 1
  end
  local wanted = at + step
  if wanted >= 1 and wanted <= #history + 1 then
    at = wanted
    M.set(history[at] or unsent)
  end
end

---Says what to do in an empty prompt.
local function hint(bufnr)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, 2, false)
  if #lines == 1 and lines[1] == '' then
    vim.api.nvim_buf_set_extmark(bufnr, namespace, 0, 0, {
      virt_text = { { HINT:format('<C-s>'), 'TarkHint' } },
      virt_text_pos = 'overlay',
    })
  end
end

---Called after each change of the text.
function M.changed()
  hint(buffers.prompt())
  require('tark.chat.layout').fit()
  if not M.text():find('%S') then
    require('tark.chat.send').emptied()
  end
end

---@param bufnr integer
function M.watch(bufnr)
  hint(bufnr)
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = bufnr,
    callback = M.changed,
  })
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = vim.api.nvim_create_augroup('tark_chat_prompt', {}),
    callback = function()
      local texts = vim.tbl_map(function(turn)
        return turn.prompt
      end, require('tark.chat.send').outbox)
      pcall(require('tark.chat.unsent').keep, vim.list_extend(texts, { M.text() }))
    end,
  })
end

---A path with blanks is one word, too.
---@param item lsp.CompletionItem
local function converted(item)
  return { word = item.textEdit and item.textEdit.newText or item.label }
end

---The client completes in it no more.
function M.detach()
  if completing then
    vim.lsp.completion.enable(false, completing.client_id, completing.bufnr)
    -- Where the buffer was unloaded Neovim has forgotten it, but not its autocommands, which fail at each key.
    pcall(vim.api.nvim_del_augroup_by_name, 'nvim.lsp.completion_' .. completing.bufnr)
    completing = nil
  end
end

---The server of the session that is shown completes mentions and names of prompts. One that was started again may have
---the buffer already.
---@param client? vim.lsp.Client
function M.attach(client)
  local bufnr = buffers.prompt()
  for _, other in ipairs(vim.lsp.get_clients({ bufnr = bufnr, name = 'tark' })) do
    if not client or other.id ~= client.id then
      vim.lsp.buf_detach_client(bufnr, other.id)
    end
  end
  if completing and not (client and completing.client_id == client.id and completing.bufnr == bufnr) then
    M.detach()
  end
  if client and not completing and vim.lsp.buf_attach_client(bufnr, client.id) then
    completing = { client_id = client.id, bufnr = bufnr }
    vim.lsp.completion.enable(true, client.id, bufnr, {
      autotrigger = require('tark.config').get().chat.autocomplete ~= false,
      convert = converted,
    })
  end
end

return M
