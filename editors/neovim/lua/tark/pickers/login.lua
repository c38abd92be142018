---Logging in to a provider: a code to type on a page. A key is never asked for in the editor.
local figures = require('tark.figures')
local notify = require('tark.notify')
local server = require('tark.server')

local M = {}

---The page and the code, until the person has done with them.
---@param login { provider: string, userCode: string, verificationUri: string }
local function show(login)
  local choices = { 'Done', 'Open the page', 'Copy the code' }
  local prompt = ('Log in to %s: type %s on %s'):format(login.provider, login.userCode, login.verificationUri)
  vim.ui.select(choices, { prompt = prompt, kind = 'tark_login' }, function(choice)
    if choice == choices[2] then
      local _, problem = vim.ui.open(login.verificationUri)
      if problem then
        notify.warn(problem)
      end
      show(login)
    elseif choice == choices[3] then
      vim.fn.setreg('"', login.userCode)
      if vim.fn.has('clipboard') == 1 then -- else it says that there is none, and waits for a key
        vim.fn.setreg('+', login.userCode)
      end
      show(login)
    end
  end)
end

---@param provider string
local function login(provider)
  server.ask('tark.auth.login', { provider = provider }, function(answer)
    if answer.userCode then
      show(answer)
    else
      notify.say(('to give %s its key, %s'):format(provider, answer.hint))
    end
  end)
end

---@param options? { provider?: string } without one: a list to choose from
function M.choose(options)
  local provider = options and options.provider or ''
  if provider ~= '' then
    return login(provider)
  end
  server.ask('tark.auth.status', {}, function(answer, known)
    require('tark.completion').keep_providers(known, answer.providers)
    vim.ui.select(answer.providers, {
      prompt = 'Log in to:',
      kind = 'tark_provider',
      format_item = function(each)
        return figures.row(each.provider, each.status, each.source)
      end,
    }, function(each)
      if each then
        login(each.provider)
      end
    end)
  end)
end

return M
