---The buffer in which Git asks for the message of a commit: its repository, its comments, and its message.
local M = {}

local SIGNS = '[#;@!$%%^&|:]' -- `core.commentChar` decides which of them Git uses
local SCISSORS = '^' .. SIGNS .. ' %-+ >8 %-+$' -- the text below is not part of the message (`git commit --verbose`)

---@param path string
---@return string? first_line
local function first_line(path)
  return vim.fn.filereadable(path) == 1 and vim.fn.readfile(path, '', 1)[1] or nil
end

---The working tree of the repository. The file of the buffer is in the Git folder, which is outside the working tree
---for a linked worktree and for a submodule.
---@param bufnr integer
---@return string?
function M.work_tree(bufnr)
  local git_folder = vim.uv.fs_realpath(vim.fs.dirname(vim.api.nvim_buf_get_name(bufnr))) or ''
  if vim.fs.basename(git_folder) == '.git' then
    return vim.fs.dirname(git_folder)
  end
  local linked = first_line(vim.fs.joinpath(git_folder, 'gitdir'))
  if linked then
    return vim.fs.dirname(linked)
  end
  local link = vim.fs.find('.git', { upward = true, type = 'file', path = vim.fn.getcwd() })[1]
  local named = link and (first_line(link) or ''):match('^gitdir: (.+)')
  if not named then
    return nil
  end
  local folder = vim.fs.dirname(link)
  local leads_here = vim.uv.fs_realpath(named) == git_folder
    or vim.uv.fs_realpath(vim.fs.joinpath(folder, named)) == git_folder
  return leads_here and folder or nil
end

---@param lines string[]
---@return string[] lines that can be part of the message, or are comments
---@return string sign of comments
local function above_scissors(lines)
  for number, line in ipairs(lines) do
    if line:match(SCISSORS) then
      return vim.list_slice(lines, 1, number), line:sub(1, 1)
    end
  end
  local last = lines[#lines] or '' -- Git ends with a comment
  return lines, (last .. ' '):match('^(' .. SIGNS .. ')%s') or '#'
end

---@param bufnr integer
---@return boolean is_empty there are only comments
function M.is_empty(bufnr)
  local lines, sign = above_scissors(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  return vim.iter(lines):all(function(line)
    return not line:find('%S') or vim.startswith(line, sign)
  end)
end

---Inserts the message at the top, and replaces only blank lines. No line of the message becomes a comment.
---@param bufnr integer
---@param message string
function M.insert(bufnr, message)
  local lines, sign = above_scissors(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  local blank = 0
  while lines[blank + 1] and not lines[blank + 1]:find('%S') do
    blank = blank + 1
  end
  local written = vim.tbl_map(function(line)
    return vim.startswith(line, sign) and ' ' .. line or line
  end, vim.split(message, '\n'))
  if lines[blank + 1] then
    table.insert(written, '')
  end
  vim.api.nvim_buf_set_lines(bufnr, 0, blank, false, written)
end

return M
