---Only the modules of state/ write the state and emit its events. Views and commands call their functions.
describe('the state', function()
  local folder = vim.fs.joinpath(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h'), 'lua', 'tark')
  local FORBIDDEN = {
    'state%.emit%(',
    'server_state%.[%w_]+ = ',
    'server_state%.[%w_]+%[.-%] = ',
    'server_state%.[%w_]+, server_state',
  }

  it('is written by the modules of state/ alone', function()
    local found, files = {}, 0
    for name, kind in vim.fs.dir(folder, { depth = 3 }) do
      if kind == 'file' and not vim.startswith(name, 'state/') then
        files = files + 1
        for line in io.lines(vim.fs.joinpath(folder, name)) do
          for _, pattern in ipairs(FORBIDDEN) do
            if line:find(pattern) then
              table.insert(found, name .. ': ' .. line)
            end
          end
        end
      end
    end
    assert.same({}, found)
    assert.truthy(files > 50)
  end)
end)
