---The operator `<Plug>(tark-edit)`: changes what a motion or a text object covers. `.` repeats it with the same prompt.
local turn = require('tark.commands.turn')

local M = {}

local prompt ---@type string? what the user typed; nil: ask for it

---@return string keys of a mapping with `expr`
function M.begin()
  prompt = nil
  vim.o.operatorfunc = "v:lua.require'tark.commands.operator'.apply"
  return 'g@'
end

---Called by 'operatorfunc'.
---@param kind 'char'|'line'|'block'
function M.apply(kind)
  local first, last = vim.api.nvim_buf_get_mark(0, '['), vim.api.nvim_buf_get_mark(0, ']')
  local range = { first[1], last[1] } ---@type tark.Range
  if kind == 'char' then
    range = { first[1], first[2] + 1, last[1], last[2] + 1 }
  end
  range.is_block = kind == 'block'
  turn.start_turn('edit', {
    prompt = prompt,
    range = range,
    on_prompt = function(typed)
      prompt = typed
    end,
  })
end

return M
