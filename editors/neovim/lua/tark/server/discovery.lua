---Finds the absolute path of the server's program. A repository must not supply the program, so folders of PATH that
---are relative or in the workspace are skipped. The installed program, and a program that the user names by absolute
---path, can be in the workspace.
local config = require('tark.config')
local workspace = require('tark.workspace')

local M = {}

local PATH_SEPARATOR = vim.fn.has('win32') == 1 and ';' or ':'

---The server that installed the plugin, as recorded by `tark-lsp install neovim`. Does not use require(): if the file
---does not exist, require() searches the working directory, and would run a file of the repository.
---@return string[]? cmd
function M.installed_command()
  for _, path in ipairs(vim.api.nvim_get_runtime_file('lua/tark/installed.lua', true)) do
    local note = path == vim.fn.fnamemodify(path, ':p') and loadfile(path)
    if note then
      return note().cmd
    end
  end
end

---@param name string
---@param root? string the workspace; the workspace of the working directory counts, too
---@return string? path
---@return string? skipped the first path that was skipped because it is in the workspace
local function find_in_path(name, root)
  local folders = { workspace.root() }
  table.insert(folders, root)
  local skipped
  for _, entry in ipairs(vim.split(vim.env.PATH or '', PATH_SEPARATOR, { plain = true })) do
    local path = vim.fn.isabsolutepath(entry) == 1 and vim.fn.exepath(vim.fs.joinpath(entry, name)) or ''
    if path ~= '' then
      local is_inside = vim.iter(folders):any(function(folder)
        return workspace.is_inside(path, folder)
      end)
      if not is_inside then
        return path
      end
      skipped = skipped or path
    end
  end
  return nil, skipped
end

---A command of the user, with the absolute path of its program.
---@param cmd string[]
---@param option string where it is set
---@param root? string
---@return string[]? cmd
---@return string? problem
function M.resolve(cmd, option, root)
  local name = cmd[1]:match('^~') and vim.fs.normalize(cmd[1]) or cmd[1]
  local program, why = nil, 'which is not a program that can be run'
  if vim.fn.isabsolutepath(name) == 1 then
    program = vim.fn.executable(name) == 1 and name or nil
  elseif name:find('[/\\]') then
    why = 'a relative path: give the absolute path'
  else
    local skipped
    program, skipped = find_in_path(name, root)
    why = skipped and ('found only as %s, which is part of the workspace: give the absolute path'):format(skipped)
      or why
  end
  if program then
    return vim.list_extend({ program }, cmd, 2)
  end
  return nil, ('%s is %s, %s'):format(option, name, why)
end

---The program of `setup`, else the program that installed this plugin, else `tark-lsp` in PATH.
---@param root? string the workspace
---@return string[]? cmd
---@return string source 'setup', 'installed' or 'PATH'; without a cmd: the problem
function M.find_program(root)
  local wanted = config.get().cmd
  if wanted then
    local cmd, problem = M.resolve(wanted, "cmd of require('tark').setup", root)
    return cmd, cmd and 'setup' or problem --[[@as string]]
  end
  local installed = M.installed_command()
  if installed and vim.fn.executable(installed[1]) == 1 then
    return installed, 'installed'
  end
  local found, skipped = find_in_path('tark-lsp', root)
  if found then
    return { found }, 'PATH'
  end
  local except = skipped and (' except %s, which is part of the workspace'):format(skipped) or ''
  return nil, ('no tark-lsp was found%s (:checkhealth tark)'):format(except)
end

return M
