---What was typed into the prompt and not sent, over the end of Neovim: a file for each workspace.
local M = {}

local path ---@type string? of the workspace in which the prompt was opened

---@return string[]? lines what was kept there; it is given once
function M.take()
  local root = require('tark.server').root(require('tark.workspace').file_buffer())
  local name = vim.fn.sha256(root or '') .. '.txt'
  path = vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'tark', 'unsent', name)
  local there, lines = pcall(vim.fn.readfile, path)
  if there and os.remove(path) then
    return lines
  end
end

---Added to what another Neovim may have kept there.
---@param texts string[]
function M.keep(texts)
  for _, text in ipairs(texts) do
    if path and text:find('%S') then
      vim.fn.mkdir(vim.fs.dirname(path), 'p', tonumber('700', 8)) -- it is nobody else's to read
      vim.fn.writefile(vim.split(text, '\n'), path, 'a')
    end
  end
end

return M
