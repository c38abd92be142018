---What listens to the state: loaded with the first server, since before it there is nothing to listen to.
local M = {}

local VIEWS = {
  'tark.review.drawing',
  'tark.events',
  'tark.progress',
  'tark.status',
  'tark.undo',
  'tark.permission',
  'tark.input',
  'tark.chat',
}

local loaded = false

function M.load()
  if loaded then
    return
  end
  loaded = true
  for _, name in ipairs(VIEWS) do
    local ok, problem = pcall(require, name)
    if not ok and not problem:match("module '" .. vim.pesc(name) .. "' not found") then
      require('tark.notify').bug(problem)
    end
  end
end

return M
