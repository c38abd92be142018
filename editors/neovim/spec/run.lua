---Runs specs in the Lua of Neovim, with its API and the plugin on its runtime path:
---  nvim --clean -l spec/run.lua [spec/some_spec.lua ...] [options of busted]
---It finds busted by LUA_PATH and LUA_CPATH, else in the folders of Debian's package `lua-busted`.
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.dirname(here))

package.path = package.path .. ';/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua'
for _, folder in ipairs(vim.fn.glob('/usr/lib/*/lua/5.1', true, true)) do
  package.cpath = package.cpath .. ';' .. folder .. '/?.so'
end
local found, run = pcall(require, 'busted.runner')
if not found then
  io.stderr:write('no busted here (Debian: apt-get install lua-busted)\n')
  os.exit(2)
end
if #arg == 0 then
  arg[1] = here
end

-- If a spec has failed, it ends with an error without a message, after it has printed the report.
os.exit(pcall(run, { standalone = false }) and 0 or 1)
