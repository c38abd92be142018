---What listens to the state: loaded with the first server, since before it there is nothing to listen to.
local M = {}

local VIEWS = {
  'tark.chat',
  'tark.endings',
  'tark.events',
  'tark.progress',
  'tark.review.drawing',
  'tark.status',
  'tark.undo',
  'tark.waiting.float',
}

local loaded = false

---One that fails keeps no other from being loaded.
function M.load()
  if loaded then
    return
  end
  loaded = true
  for _, name in ipairs(VIEWS) do
    local ok, traceback = xpcall(require, debug.traceback, name)
    if not ok then
      require('tark.notify').bug(traceback)
    end
  end
end

return M
