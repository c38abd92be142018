---The table of the chat's keys, and the float that lists them.
local float = require('tark.float')

local M = {}

---@class tark.ChatKey
---@field [1] 'transcript'|'prompt'|'both' the buffer
---@field [2] string modes
---@field [3] string[] keys
---@field [4] string description
---@field [5] string the name of a function of chat/actions.lua, optionally a space and the argument

---@type tark.ChatKey[]
M.table = {
  { 'prompt', 'n', { '<CR>' }, 'send', 'send' },
  { 'prompt', 'ni', { '<C-s>', '<C-CR>' }, 'send', 'send' },
  { 'prompt', 'n', { 'gs' }, 'send it to the running turn, after its next tool results', 'steer' },
  { 'prompt', 'i', { '<C-y>' }, 'take the selected entry of the menu, or else the first one', 'take_entry' },
  { 'prompt', 'n', { '<C-p>' }, 'the previous prompt', 'recall -1' },
  { 'prompt', 'n', { '<C-n>' }, 'the next prompt', 'recall 1' },
  { 'both', 'n', { '<C-c>' }, 'cancel the running turn', 'cancel' },
  { 'transcript', 'n', { '<CR>' }, 'follow the link, answer what waits, or open or close', 'enter' },
  { 'transcript', 'n', { 'gf', '<C-]>' }, 'open the file that is named at the cursor', 'follow' },
  { 'transcript', 'n', { 'gx' }, 'open the web page that is named at the cursor', 'browse' },
  { 'transcript', 'n', { 'za' }, 'open or close what is at the cursor', 'toggle' },
  { 'transcript', 'n', { 'zo' }, 'open what is at the cursor', 'toggle open' },
  { 'transcript', 'n', { 'zc' }, 'close what is at the cursor', 'toggle close' },
  { 'transcript', 'n', { 'zR' }, 'open everything', 'toggle_all open' },
  { 'transcript', 'n', { 'zM' }, 'close everything', 'toggle_all close' },
  { 'transcript', 'n', { ']]' }, 'go to the next prompt', 'go_to_turn 1' },
  { 'transcript', 'n', { '[[' }, 'go to the previous prompt', 'go_to_turn -1' },
  { 'transcript', 'n', { 'e' }, 'on one of your prompts: edit it and send it in its place', 'edit' },
  { 'transcript', 'n', { 'i', 'a', 'o', 'I', 'A', 'O' }, 'continue typing in the prompt', 'type' },
  { 'transcript', 'n', { 'q' }, 'close the chat', 'hide' },
  { 'both', 'n', { 'g?' }, 'show these keys', 'help' },
}

---@return string[]
function M.lines()
  local lines = {}
  for _, part in ipairs({ 'prompt', 'transcript', 'both' }) do
    table.insert(lines, part == 'both' and 'In both' or 'In the ' .. part)
    for _, row in ipairs(M.table) do
      if row[1] == part then
        local mode = row[2] == 'ni' and ' (also in insert mode)' or ''
        table.insert(lines, ('  %-22s %s%s'):format(table.concat(row[3], ' '), row[4], mode))
      end
    end
  end
  return lines
end

---Shows the keys in a float. `q`, `<Esc>`, `g?` or leaving it closes it.
function M.show_help()
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, M.lines())
  vim.bo[bufnr].modifiable, vim.bo[bufnr].bufhidden = false, 'wipe'
  local window = float.open(bufnr, 'Tark chat', { minimal = true })
  local function close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  for _, key in ipairs({ 'q', '<Esc>', 'g?' }) do
    vim.keymap.set('n', key, close, { buffer = bufnr, nowait = true, desc = 'Tark: close' })
  end
  vim.api.nvim_create_autocmd('WinLeave', { buffer = bufnr, once = true, callback = vim.schedule_wrap(close) })
end

return M
