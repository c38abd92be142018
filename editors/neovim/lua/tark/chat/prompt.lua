---The text of the prompt window: never loses what was typed, recalls earlier prompts, and lets the server complete
---mentions.
local buffers = require('tark.chat.buffers')
local chat_client = require('tark.server.chat_client')
local config = require('tark.config')
local layout = require('tark.chat.layout')
local listeners = require('tark.listeners')
local shown_session = require('tark.chat.shown_session')
local unsent_text = require('tark.chat.unsent_text')

local M = {}

local HINT = 'Ask, or /name · @ mentions · <C-s> sends · g? keys'
local namespace = vim.api.nvim_create_namespace('tark_chat_prompt')

local events = listeners.new()
local history = {} ---@type string[] prompts that were sent, the oldest first
local position ---@type integer? index in the history, while one of its prompts is shown
local draft = '' -- the text before the user went through the history
local unloaded ---@type string[]? lines of a prompt whose buffer was unloaded
local completing ---@type { server_id: integer, client_id: integer, bufnr: integer }?

---@param listener fun()
function M.on_emptied(listener)
  events:on('emptied', listener)
end

---@param listener fun()
function M.on_changed(listener)
  events:on('changed', listener)
end

---@return string
function M.text()
  return table.concat(vim.api.nvim_buf_get_lines(buffers.prompt(), 0, -1, false), '\n')
end

---Shows a hint in an empty prompt.
local function show_hint(bufnr)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, 2, false)
  if #lines == 1 and lines[1] == '' then
    vim.api.nvim_buf_set_extmark(bufnr, namespace, 0, 0, {
      virt_text = { { HINT, 'TarkHint' } },
      virt_text_pos = 'overlay',
    })
  end
end

---Called after each change of the text.
local function text_changed()
  show_hint(buffers.prompt())
  layout.fit_prompt()
  events:emit('changed')
  if not M.text():find('%S') then
    events:emit('emptied')
  end
end

---@param text string
function M.set_text(text)
  local bufnr = buffers.prompt()
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(text, '\n'))
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    local last = vim.api.nvim_buf_line_count(bufnr)
    vim.api.nvim_win_set_cursor(window, { last, #vim.api.nvim_buf_get_lines(bufnr, last - 1, last, false)[1] })
  end
  text_changed()
end

---Puts back a prompt that the server refused, above what was typed since.
---@param text string
function M.restore_text(text)
  local typed = M.text()
  M.set_text(typed:find('%S') and text .. '\n\n' .. typed or text)
end

---@param text string
function M.add_to_history(text)
  if history[#history] ~= text then
    table.insert(history, text)
  end
  position = nil
end

---Shows another prompt of the history.
---@param step integer -1: an earlier prompt, 1: a later one
function M.recall(step)
  local text = M.text()
  if not position or text ~= (history[position] or draft) then -- typed, or changed after it was recalled
    draft, position = text, #history + 1
  end
  local wanted = position + step
  if wanted >= 1 and wanted <= #history + 1 then
    position = wanted
    M.set_text(history[position] or draft)
  end
end

---Uses the whole text of the item as the word, because a path can contain spaces.
---@param item lsp.CompletionItem
local function convert_item(item)
  return { word = item.textEdit and item.textEdit.newText or item.label }
end

---Switches off completion by language clients in the prompt.
local function disable_completion()
  if completing then
    vim.lsp.completion.enable(false, completing.client_id, completing.bufnr)
    -- If the buffer was unloaded, Neovim has dropped its completion, but not the autocommands, which fail at each key.
    pcall(vim.api.nvim_del_augroup_by_name, 'nvim.lsp.completion_' .. completing.bufnr)
    completing = nil
  end
end

---Attaches the server of the shown session, which completes mentions and names of prompts. A restarted server can be
---attached already.
local function attach_server()
  local client, bufnr = shown_session.client(), buffers.prompt()
  for _, other in ipairs(vim.lsp.get_clients({ bufnr = bufnr, name = 'tark' })) do
    if not client or other.id ~= client.id then
      vim.lsp.buf_detach_client(bufnr, other.id)
    end
  end
  if completing and not (client and completing.server_id == client.id and completing.bufnr == bufnr) then
    disable_completion()
  end
  local client_id = client
    and not completing
    and vim.lsp.buf_attach_client(bufnr, client.id)
    and chat_client.attach(bufnr, client)
  if client_id then
    completing = { server_id = client.id, client_id = client_id, bufnr = bufnr }
    vim.lsp.completion.enable(true, client_id, bufnr, {
      autotrigger = config.get().chat.autocomplete ~= false,
      convert = convert_item,
    })
  end
end

---Opens the menu with files after `@file:` was completed. Neovim itself opens it only after typed characters.
local function continue_completing()
  local word = vim.v.completed_item.word or ''
  if vim.v.event.reason == 'accept' and word:find('[:/]$') and config.get().chat.autocomplete ~= false then
    vim.schedule(function()
      if vim.api.nvim_get_mode().mode:find('^i') and vim.fn.pumvisible() == 0 then
        vim.lsp.completion.get()
      end
    end)
  end
end

---@param bufnr integer
local function set_up_buffer(bufnr)
  local before = unloaded or unsent_text.take_text()
  if before then
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, before)
  end
  vim.bo[bufnr].completeopt = 'menuone,noselect,popup,fuzzy' -- the server finds a path by any part of it
  show_hint(bufnr)
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = bufnr,
    callback = text_changed,
  })
  vim.api.nvim_create_autocmd('CompleteDone', { buffer = bufnr, callback = continue_completing })
  vim.api.nvim_create_autocmd('BufUnload', {
    buffer = bufnr,
    callback = function()
      unloaded = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
      disable_completion()
    end,
  })
  vim.api.nvim_create_autocmd('BufReadCmd', { -- `:edit` in it
    buffer = bufnr,
    callback = function()
      vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, unloaded)
      vim.schedule(attach_server)
    end,
  })
end

shown_session.on('server', attach_server)
buffers.on_created(function(bufnr, part)
  if part == 'prompt' then
    set_up_buffer(bufnr)
  end
end)

return M
