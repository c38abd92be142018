-- Defines the commands, and nothing else: Neovim runs this file at every start. lua/tark is loaded when it is first
-- needed.
if vim.g.loaded_tark then
  return
end
vim.g.loaded_tark = true

local group = vim.api.nvim_create_augroup('tark', {})
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = group,
  callback = function(event)
    vim.schedule(function()
      require('tark.autostart').file_opened(event.buf)
    end)
  end,
})
vim.api.nvim_create_autocmd({ 'BufFilePre', 'BufFilePost', 'BufNew' }, {
  group = group,
  callback = function(event)
    -- If the new buffer is already loaded, a buffer without a name has got its first name.
    if event.event ~= 'BufNew' or (event.file ~= '' and vim.api.nvim_buf_is_loaded(event.buf)) then
      require('tark.renaming')[event.event == 'BufFilePre' and 'before' or 'after'](event.buf)
    end
  end,
})

-- These functions convert the arguments of a command to the options of a function.
local function all(arguments)
  return { all = arguments.bang }
end

local function hunks(arguments)
  local lines = arguments.range > 0 and { arguments.line1, arguments.line2 } or nil
  return { all = arguments.bang, range = lines }
end

local function prompt(arguments)
  return { prompt = arguments.args, range = require('tark.text_range').of_command(arguments) }
end

local function provider(arguments)
  return { provider = arguments.args }
end

local function session(arguments)
  return { action = arguments.args, all = arguments.bang }
end

local function setting(arguments)
  return { name = arguments.args, new_sessions = arguments.bang }
end

local function undo(arguments)
  return { before = arguments.bang }
end

-- Completes with a function of a module. It gets the word before the cursor.
local function by(module, name)
  return function(lead)
    return require(module)[name](lead)
  end
end

local function prompt_names(lead, line)
  return require('tark.commands.completion').prompt_names(lead, line:match('%u%w*!?%s+(.*)') or '')
end

-- One row for each command: its name, the function of `require('tark')` that it calls, and its description. `options`
-- makes the options of that function, `bang` describes the command with !, and `nargs` defaults to 0.
local COMMANDS = {
  { 'Tark', 'agent', 'Let the agent do what you say', options = prompt, nargs = '*', complete = prompt_names },
  { 'TarkEdit', 'edit', 'Change only the selection', options = prompt, nargs = '*', complete = prompt_names },
  { 'TarkAsk', 'ask', 'Ask about the code', options = prompt, nargs = '*', complete = prompt_names },
  { 'TarkExplain', 'explain', 'Explain the code', options = prompt, nargs = '*', complete = prompt_names },
  { 'TarkFix', 'fix', 'Fix the code', options = prompt, nargs = '*', complete = prompt_names },
  { 'TarkTest', 'test', 'Write tests for the code', options = prompt, nargs = '*', complete = prompt_names },
  { 'TarkChat', 'chat', 'Open or close the chat' },
  { 'TarkStop', 'stop', 'Cancel the turns of the session', options = all, bang = 'Cancel all turns' },
  {
    'TarkAccept',
    'accept',
    'Keep or accept the hunk at the cursor',
    options = hunks,
    bang = 'Keep or accept all hunks',
  },
  {
    'TarkReject',
    'reject',
    'Undo or reject the hunk at the cursor',
    options = hunks,
    bang = 'Undo or reject all hunks',
  },
  {
    'TarkUndo',
    'undo',
    'Undo the changes of the last turn',
    options = undo,
    bang = 'Undo the turn before',
  },
  { 'TarkRedo', 'redo', 'Redo what was undone' },
  { 'TarkRestore', 'restore', 'Go back to the state before an earlier prompt' },
  { 'TarkBuild', 'build', 'Approve the plan and carry it out' },
  { 'TarkCommit', 'commit', 'Write the commit message' },
  {
    'TarkPaste',
    'paste',
    'Attach the image in the clipboard to the next prompt',
    options = all,
    bang = 'Drop the images that were pasted',
  },
  { 'TarkNext', 'next_hunk', 'Go to the next hunk, at the last one on to the next file' },
  { 'TarkPrev', 'prev_hunk', 'Go to the previous hunk, at the first one on to the file before' },
  { 'TarkReview', 'review', 'List all hunks that wait for you' },
  {
    'TarkSessions',
    'sessions',
    'Choose a session',
    options = session,
    bang = 'Choose a session of any workspace',
    nargs = '?',
    complete = by('tark.pickers.sessions', 'complete'),
  },
  {
    'TarkModel',
    'model',
    'Choose the model of the session',
    options = setting,
    bang = 'Choose the model of new sessions',
    nargs = '?',
    complete = by('tark.pickers.settings', 'complete_model'),
  },
  {
    'TarkMode',
    'mode',
    'Choose the mode or approval level of the session',
    options = setting,
    bang = 'Choose the mode or approval level of new sessions',
    nargs = '?',
    complete = by('tark.pickers.settings', 'complete_mode'),
  },
  {
    'TarkAgents',
    'choose_agent',
    'Choose the custom agent of the session',
    options = setting,
    bang = 'Choose the custom agent of new sessions',
    nargs = '?',
    complete = by('tark.pickers.agents', 'complete'),
  },
  {
    'TarkLogin',
    'login',
    'Log in to a provider',
    options = provider,
    nargs = '?',
    complete = by('tark.pickers.login', 'complete'),
  },
  { 'TarkStatus', 'status_report', 'Show the status of server and session' },
  { 'TarkContext', 'context_report', 'Show what the next prompt consists of' },
  { 'TarkPermission', 'permission', 'Go to the permission or question that waits for you' },
  { 'TarkPermissions', 'permissions', 'Show what you allowed, and revoke it' },
  { 'TarkMcp', 'mcp', 'List MCP servers and hooks, and approve them' },
  { 'TarkRestart', 'restart', 'Restart the server' },
}

local function map_plug(name, command, desc)
  vim.api.nvim_set_keymap('', '<Plug>(tark-' .. name .. ')', command, { noremap = true, desc = 'Tark: ' .. desc })
end

for _, row in ipairs(COMMANDS) do
  local name, call, desc = unpack(row)
  vim.api.nvim_create_user_command(name, function(arguments)
    local ok, problem = xpcall(function()
      require('tark')[call](row.options and row.options(arguments))
    end, debug.traceback)
    if not ok then
      require('tark.notify').internal_error(problem)
    end
  end, { nargs = row.nargs or 0, bang = row.bang ~= nil, range = true, complete = row.complete, desc = desc })
  local plug = name == 'Tark' and 'agent' or name:sub(5):lower()
  map_plug(plug, '<Cmd>' .. name .. '<CR>', desc)
  if row.bang then
    map_plug(plug .. '!', '<Cmd>' .. name .. '!<CR>', row.bang)
  end
end

local edit_operator = { expr = true, noremap = true, desc = 'Tark: Change only the selection (operator)' }
edit_operator.callback = function()
  return require('tark.commands.operator').begin()
end
vim.api.nvim_set_keymap('n', '<Plug>(tark-edit)', '', edit_operator)
-- Typed twice, the operator applies to the line.
vim.api.nvim_set_keymap('o', '<Plug>(tark-edit)', 'g@', { noremap = true, desc = 'Tark: the line' })

map_plug('next-hunk', "<Cmd>lua require('tark').next_hunk()<CR>", 'Go to the next hunk')
map_plug('prev-hunk', "<Cmd>lua require('tark').prev_hunk()<CR>", 'Go to the previous hunk')
map_plug('hunk-diff', "<Cmd>lua require('tark').hunk_diff()<CR>", 'Show the whole diff')
map_plug('hunk-edit', "<Cmd>lua require('tark').hunk_edit()<CR>", 'Edit the hunk at the cursor')
map_plug('hunk-regenerate', "<Cmd>lua require('tark').hunk_regenerate()<CR>", 'Let the model write the hunk again')
