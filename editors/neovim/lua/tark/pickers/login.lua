---Logs in to a provider: shows a code for the user to type on a web page. The editor never asks for a key.
local completion = require('tark.commands.completion')
local figures = require('tark.figures')
local notify = require('tark.notify')
local request = require('tark.pickers.request')
local visible = require('tark.visible')

local M = {}

---Shows the page and the code until the user is done.
---@param login { provider: string, userCode: string, verificationUri: string }
local function show_code(login)
  local choices = { 'Done', 'Open the page', 'Copy the code' }
  local prompt = ('Log in to %s: type %s on %s'):format(login.provider, login.userCode, login.verificationUri)
  vim.ui.select(choices, { prompt = visible.line(prompt), kind = 'tark_login' }, function(choice)
    if choice == choices[2] then
      local _, problem = vim.ui.open(login.verificationUri)
      if problem then
        notify.warn(problem)
      end
      show_code(login)
    elseif choice == choices[3] then
      vim.fn.setreg('"', login.userCode)
      if vim.fn.has('clipboard') == 1 then -- without a clipboard, Neovim would report that, and wait for a key
        vim.fn.setreg('+', login.userCode)
      end
      show_code(login)
    end
  end)
end

---@param name string of the provider
local function login_to(name)
  request('tark.auth.login', { provider = name }, function(answer)
    if answer.userCode then
      show_code(answer)
    else
      notify.info(('to set the key of %s, %s'):format(name, answer.hint))
    end
  end)
end

---@param lead string the word before the cursor
---@return string[]
function M.complete(lead)
  return completion.matching(completion.providers(), lead)
end

---@param options? { provider?: string } nil: the user chooses from a list
function M.choose(options)
  local name = options and options.provider or ''
  if name ~= '' then
    return login_to(name)
  end
  request('tark.auth.status', {}, function(answer, server_state)
    completion.cache_providers(server_state, answer.providers)
    vim.ui.select(answer.providers, {
      prompt = 'Log in to:',
      kind = 'tark_provider',
      format_item = function(provider)
        return visible.line(figures.join(provider.provider, provider.status, provider.source))
      end,
    }, function(provider)
      if provider then
        login_to(provider.provider)
      end
    end)
  end)
end

return M
