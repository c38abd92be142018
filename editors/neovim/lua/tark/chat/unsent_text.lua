---Keeps the unsent text of the prompt when Neovim ends, in one file per workspace.
local clients = require('tark.server.clients')
local workspace = require('tark.workspace')

local M = {}

local path ---@type string? of the workspace in which the prompt was opened

---@return string[]? lines that were kept for this workspace; the file is removed
function M.take_text()
  local root = clients.root(workspace.file_buffer())
  local name = vim.fn.sha256(root or '') .. '.txt'
  path = vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'tark', 'unsent', name)
  local exists, lines = pcall(vim.fn.readfile, path)
  if exists and os.remove(path) then
    return lines
  end
end

---Appends the texts to those that another Neovim has kept there.
---@param texts string[]
function M.keep_texts(texts)
  for _, text in ipairs(texts) do
    if path and text:find('%S') then
      vim.fn.mkdir(vim.fs.dirname(path), 'p', tonumber('700', 8)) -- nobody else may read it
      vim.fn.writefile(vim.split(text, '\n'), path, 'a')
    end
  end
end

return M
