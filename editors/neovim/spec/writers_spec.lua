---Who writes the state: updates.lua, so that one place tells of it. In server.lua a client begins its state.
describe('the state', function()
  local folder = vim.fs.joinpath(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h'), 'lua', 'tark')
  local FORBIDDEN = { 'state%.emit%(', 'known%.[%w_]+ = ', 'known%.[%w_]+%[.-%] = ', 'known%.[%w_]+, known' }
  local ALLOWED = { ['updates.lua'] = true, ['server.lua'] = true }

  it('is written by updates.lua alone', function()
    local found, files = {}, 0
    for name, kind in vim.fs.dir(folder, { depth = 3 }) do
      if kind == 'file' and not ALLOWED[name] then
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
