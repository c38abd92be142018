-- Loaded at every start of Neovim, so it does next to nothing: the rest is loaded with the first file or command.
if vim.g.loaded_tark then
  return
end
vim.g.loaded_tark = true

local group = vim.api.nvim_create_augroup('tark', {})
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = group,
  callback = function(event)
    vim.schedule(function()
      require('tark.autostart').opened(event.buf)
    end)
  end,
})
vim.api.nvim_create_autocmd({ 'BufFilePre', 'BufFilePost', 'BufNew' }, {
  group = group,
  callback = function(event)
    -- One that is new and loaded is one without a name that got its first.
    if event.event ~= 'BufNew' or (event.file ~= '' and vim.api.nvim_buf_is_loaded(event.buf)) then
      require('tark.renaming')[event.event == 'BufFilePre' and 'before' or 'after'](event.buf)
    end
  end,
})

-- Name, number of arguments, what it is for, and with ! (if it takes one). What they do is in lua/tark/commands.lua.
local COMMANDS = {
  { 'Tark', '*', 'Let the agent do what you say' },
  { 'TarkEdit', '*', 'Change the selection, and nothing else' },
  { 'TarkAsk', '*', 'Ask about the code' },
  { 'TarkExplain', '*', 'Explain the code' },
  { 'TarkFix', '*', 'Fix the code' },
  { 'TarkTest', '*', 'Write tests for the code' },
  { 'TarkChat', 0, 'Open or close the chat' },
  { 'TarkStop', 0, 'Cancel the turns of the session', 'Cancel all turns' },
  { 'TarkAccept', 0, 'Accept the hunk at the cursor', 'Accept all hunks' },
  { 'TarkReject', 0, 'Reject the hunk at the cursor', 'Reject all hunks' },
  { 'TarkUndo', 0, 'Take back what the last turn changed', 'Take back what the turn before changed' },
  { 'TarkReview', 0, 'List all hunks that wait for you' },
  { 'TarkSessions', '?', 'Choose a session', 'Choose a session of any workspace' },
  { 'TarkModel', '?', 'Choose the model of the session', 'Choose the model of new sessions' },
  { 'TarkMode', '?', 'Choose mode or approval level of the session', 'Choose those of new sessions' },
  { 'TarkLogin', '?', 'Log in to a provider' },
  { 'TarkStatus', 0, 'Show how things stand' },
  { 'TarkPermission', 0, 'Go to the permission that waits for you' },
  { 'TarkRestart', 0, 'Start the server anew' },
}

local function plug(name, command, desc)
  vim.api.nvim_set_keymap('', '<Plug>(tark-' .. name .. ')', command, { noremap = true, desc = 'Tark: ' .. desc })
end

for _, row in ipairs(COMMANDS) do
  local name, nargs, desc, with_bang = unpack(row)
  local complete = nargs ~= 0
    and function(lead, line)
      return require('tark.completion').of_command(name, lead, line)
    end
  vim.api.nvim_create_user_command(name, function(arguments)
    require('tark.commands').run(name, arguments)
  end, { nargs = nargs, bang = with_bang ~= nil, range = true, complete = complete or nil, desc = desc })
  local short = name == 'Tark' and 'agent' or name:sub(5):lower()
  plug(short, '<Cmd>' .. name .. '<CR>', desc)
  if with_bang then
    plug(short .. '!', '<Cmd>' .. name .. '!<CR>', with_bang)
  end
end
plug('next-hunk', "<Cmd>lua require('tark').next_hunk()<CR>", 'Jump to the next hunk')
plug('prev-hunk', "<Cmd>lua require('tark').prev_hunk()<CR>", 'Jump to the previous hunk')
plug('hunk-diff', "<Cmd>lua require('tark').hunk_diff()<CR>", 'Show the whole diff')
plug('hunk-edit', "<Cmd>lua require('tark').hunk_edit()<CR>", 'Edit the hunk at the cursor')
plug('hunk-regenerate', "<Cmd>lua require('tark').hunk_regenerate()<CR>", 'Have the hunk at the cursor written anew')
