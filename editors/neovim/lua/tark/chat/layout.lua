---The chat's two windows, the transcript and below it the prompt, which open and close together in a tab page. A buffer
---that the user opens in one of them, for example with `:edit`, is moved to a window for files.
local buffers = require('tark.chat.buffers')
local config = require('tark.config')
local float = require('tark.float')
local shown_session = require('tark.chat.shown_session')
local workspace = require('tark.workspace')

local M = {}

local OTHER = { transcript = 'prompt', prompt = 'transcript' }
local LEAST_FLOAT = 0.8 -- of the screen
local ZINDEX = 40 -- below the float of waiting/

---@param window integer
---@return tark.ChatPart?
function M.part(window)
  return vim.api.nvim_win_is_valid(window) and vim.w[window].tark_chat or nil
end

---@param part tark.ChatPart
---@param tabpage? integer
---@return integer? window
function M.window(part, tabpage)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(tabpage or 0)) do
    if M.part(window) == part then
      return window
    end
  end
end

---@return integer height for the prompt's text
local function prompt_height(window)
  local wanted = vim.api.nvim_win_text_height(window, {}).all
  local above = M.window('transcript', vim.api.nvim_win_get_tabpage(window))
  local both = vim.api.nvim_win_get_height(window) + (above and vim.api.nvim_win_get_height(above) or 0)
  return math.max(config.get().chat.prompt_lines, math.min(wanted, math.floor(both / 3)))
end

---@param lines integer height of the prompt
---@return table<tark.ChatPart, vim.api.keyset.win_config>
local function float_configs(lines)
  local size = math.max(config.get().chat.size, LEAST_FLOAT)
  local width, height = math.floor(vim.o.columns * size), math.floor((vim.o.lines - 4) * size)
  local above = math.max(1, height - lines - 4) -- without the borders
  local row, column = math.floor((vim.o.lines - height) / 2), math.floor((vim.o.columns - width) / 2)
  local same = { relative = 'editor', width = width, col = column, border = float.border(), zindex = ZINDEX }
  return {
    transcript = vim.tbl_extend('error', { row = row, height = above, title = ' Tark ' }, same),
    prompt = vim.tbl_extend('error', { row = row + above + 2, height = lines }, same),
  }
end

---@param part tark.ChatPart
---@return vim.api.keyset.win_config
local function window_config(part)
  local chat = config.get().chat
  local other = M.window(OTHER[part])
  if chat.position == 'float' then
    return float_configs(chat.prompt_lines)[part]
  elseif other then
    return part == 'prompt' and { win = other, split = 'below', height = chat.prompt_lines }
      or { win = other, split = 'above' }
  elseif chat.position == 'bottom' then
    return { win = -1, split = 'below', height = math.floor(vim.o.lines * chat.size) }
  end
  return { win = -1, split = chat.position, width = math.floor(vim.o.columns * chat.size) }
end

---@param window integer
---@param part tark.ChatPart
local function set_window_options(window, part)
  vim.w[window].tark_chat = part
  local options = vim.wo[window][0]
  options.wrap, options.linebreak, options.list, options.spell = true, true, false, false
  options.number, options.relativenumber, options.cursorline = false, false, false
  options.signcolumn, options.foldcolumn, options.statuscolumn, options.colorcolumn = 'no', '0', '', ''
  options.foldenable, options.winfixwidth, options.winfixheight = false, true, part == 'prompt'
  if vim.go.statusline == '' then
    options.statusline = part == 'prompt' and ' Prompt' or ' Tark'
  end
  if part == 'transcript' then
    options.conceallevel, options.concealcursor = 2, 'nc'
  end
end

---Opens the windows of the chat that are not open in this tab page. Does not move the focus.
---@return integer transcript window
---@return integer prompt window
function M.open()
  for _, part in ipairs({ 'transcript', 'prompt' }) do
    if not M.window(part) then
      set_window_options(vim.api.nvim_open_win(buffers[part](), false, window_config(part)), part)
    end
  end
  M.fit_prompt()
  return M.window('transcript'), M.window('prompt')
end

---@param window integer
local function close(window)
  if not vim.api.nvim_win_is_valid(window) then
    return
  end
  local tabpage = vim.api.nvim_win_get_tabpage(window)
  local only = #vim.api.nvim_list_tabpages() == 1
  for _, other in ipairs(vim.api.nvim_tabpage_list_wins(tabpage)) do
    only = only and (other == window or vim.api.nvim_win_get_config(other).relative ~= '')
  end
  if only then -- Neovim needs at least one window
    vim.w[window].tark_chat = nil
    local file = workspace.file_buffer()
    vim.api.nvim_win_set_buf(window, file or vim.api.nvim_create_buf(true, false))
  else
    vim.api.nvim_win_close(window, true)
  end
end

---Closes the chat in this tab page.
function M.close()
  local transcript, prompt = M.window('transcript'), M.window('prompt')
  for _, window in pairs({ prompt, transcript }) do
    vim.w[window].tark_chat = nil -- so that `window_closed` ignores it
  end
  for _, window in pairs({ prompt, transcript }) do
    close(window)
  end
end

---Gives the prompt the height of its text, up to a third of the chat.
function M.fit_prompt()
  local prompt, transcript = M.window('prompt'), M.window('transcript')
  if not prompt or not transcript then
    return
  end
  local lines = prompt_height(prompt)
  if vim.api.nvim_win_get_config(prompt).relative ~= '' then
    local configs = float_configs(lines)
    vim.api.nvim_win_set_config(transcript, configs.transcript)
    vim.api.nvim_win_set_config(prompt, configs.prompt)
  elseif vim.api.nvim_win_get_height(prompt) ~= lines then
    vim.api.nvim_win_set_height(prompt, lines)
  end
end

---A window for files in this tab page. If there is none, it is created.
---@return integer window
function M.file_window()
  local window = workspace.file_window()
  for _, other in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local is_free = not M.part(other) and vim.api.nvim_win_get_config(other).relative == ''
    window = window or is_free and vim.bo[vim.api.nvim_win_get_buf(other)].buftype == '' and other or nil
  end
  if config.get().chat.position == 'float' then
    M.close()
  end
  local side = config.get().chat.position == 'left' and 'right' or 'left'
  return window or vim.api.nvim_open_win(0, false, { win = -1, split = side })
end

---Shows a buffer in a window for files. If that window must keep its buffer, shows it in a new window below.
---@param bufnr integer
---@return integer window
function M.show_file(bufnr)
  local window = M.file_window()
  vim.api.nvim_win_call(window, function()
    vim.cmd("normal! m'") -- for the jump list
  end)
  if not pcall(vim.api.nvim_win_set_buf, window, bufnr) then -- 'winfixbuf', or a modified buffer with 'nohidden'
    window = vim.api.nvim_open_win(bufnr, false, { split = 'below', win = window })
  end
  return window
end

---If a window of the chat shows another buffer, moves that buffer to a window for files, and shows the chat again.
---@param window integer
local function restore_buffer(window)
  local part = M.part(window)
  local foreign = part and vim.api.nvim_win_get_buf(window)
  if not part or foreign == buffers[part]() then
    return
  end
  local cursor = vim.api.nvim_win_get_cursor(window)
  local is_current = vim.api.nvim_get_current_win() == window
  vim.api.nvim_win_set_buf(window, buffers[part]())
  set_window_options(window, part)
  local target = M.show_file(foreign)
  vim.api.nvim_win_set_cursor(target, cursor)
  if is_current then
    vim.api.nvim_set_current_win(target)
  end
end

---Called when one of the chat's two windows was closed. If the user was in it, closes the other one, too. If `:only` in
---the other window closed it, opens it again.
---@param window integer
local function window_closed(window)
  local part = M.part(window)
  local current = vim.api.nvim_get_current_win()
  local other = part and M.window(OTHER[part], vim.api.nvim_win_get_tabpage(window))
  if not other then
    return
  end
  local reopen = current == other
  vim.schedule(function()
    if not M.part(other) then
      return
    elseif reopen and vim.api.nvim_get_current_win() == other then
      M.open()
      shown_session.emit_changed()
    else
      vim.w[other].tark_chat = nil
      close(other)
    end
  end)
end

---On `:q` when only the chat is left: closes its other window, which would keep Neovim from ending.
local function before_quit()
  local part = M.part(vim.api.nvim_get_current_win())
  local other = part and M.window(OTHER[part])
  if other and #vim.api.nvim_list_tabpages() == 1 and #vim.api.nvim_tabpage_list_wins(0) == 2 then
    vim.api.nvim_win_close(other, true)
  end
end

local function create_autocmds()
  local group = vim.api.nvim_create_augroup('tark_chat', {})
  local function on(event, callback)
    vim.api.nvim_create_autocmd(event, { group = group, callback = callback })
  end
  on({ 'BufEnter', 'BufWinEnter' }, function()
    local window = vim.api.nvim_get_current_win()
    if M.part(window) then
      vim.schedule(function()
        restore_buffer(window)
      end)
    end
  end)
  on('WinClosed', function(event)
    window_closed(tonumber(event.match) or 0)
  end)
  on('QuitPre', before_quit)
  on('VimResized', M.fit_prompt)
end

create_autocmds()

return M
