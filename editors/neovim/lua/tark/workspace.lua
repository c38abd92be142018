---Finds the file that the user works on, the names of files, and the workspace folder.
local M = {}

local MARKERS = { '.git', '.hg', '.jj', '.svn', '.tark' }

---@param bufnr integer
---@return boolean
function M.is_file(bufnr)
  return vim.api.nvim_buf_is_valid(bufnr)
    and vim.bo[bufnr].buftype == ''
    and not vim.bo[bufnr].binary -- its text may not be UTF-8, and a server could not read it
    and vim.api.nvim_buf_get_name(bufnr) ~= ''
    and not vim.api.nvim_buf_get_name(bufnr):match('^%a[%w+.-]+://')
end

---The window of the file that the user works on, or came from to another window (chat, quickfix, help).
---@return integer? window
function M.file_window()
  local previous = vim.fn.win_getid(vim.fn.winnr('#'))
  local windows = vim.list_extend({ vim.api.nvim_get_current_win(), previous }, vim.api.nvim_tabpage_list_wins(0))
  for _, window in ipairs(windows) do
    if window ~= 0 and M.is_file(vim.api.nvim_win_get_buf(window)) then
      return window
    end
  end
end

---The buffer itself if it is a file, else the file that the user works on, else the last used file.
---@param bufnr? integer 0 or nil: the current one
---@return integer? bufnr
function M.file_buffer(bufnr)
  bufnr = (bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr
  if M.is_file(bufnr) then
    return bufnr
  end
  local window = M.file_window()
  if window then
    return vim.api.nvim_win_get_buf(window)
  end
  local last, used = nil, -1
  for _, info in ipairs(vim.fn.getbufinfo({ bufloaded = 1 })) do
    if info.lastused > used and M.is_file(info.bufnr) then
      last, used = info.bufnr, info.lastused
    end
  end
  return last
end

---The URI as vim.uri_from_bufnr() spells it. The server can spell it differently.
---@param uri string
---@return string
function M.normalize_uri(uri)
  if uri:match('^file:') then
    local ok, path = pcall(vim.uri_to_fname, uri)
    return ok and vim.uri_from_fname(path) or uri
  end
  return uri
end

---The buffer of a file, loaded or not. Does not create a buffer.
---@param uri string
---@return integer? bufnr
function M.find_buffer(uri)
  uri = M.normalize_uri(uri)
  local name = uri:match('^file:') and vim.uri_to_fname(uri) or uri
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    -- Comparing names is cheaper than making URIs of them. On Windows they differ in slashes.
    local buffer_name = vim.api.nvim_buf_get_name(bufnr)
    local has_backslash = buffer_name:find('\\', 1, true)
    if buffer_name ~= '' and (buffer_name == name or (has_backslash and vim.uri_from_bufnr(bufnr) == uri)) then
      return bufnr
    end
  end
end

---A short name of a file, relative to the working or home folder. Other URIs are returned unchanged.
---@param uri string
---@return string
function M.display_name(uri)
  local ok, path = pcall(vim.uri_to_fname, uri)
  local is_path = ok and uri:match('^file:') and not path:find('%z') -- Neovim's functions accept no other URIs
  return is_path and vim.fn.fnamemodify(path, ':~:.') or uri
end

---@param folder string
---@param path string
local function holds(folder, path)
  return folder == path or vim.startswith(path, folder:sub(-1) == '/' and folder or folder .. '/')
end

---Is it the home folder, or a folder above it? Such a folder is not a project.
---@param folder string
local function holds_home(folder)
  local home = vim.fs.normalize(vim.uv.os_homedir() or '~')
  return holds(folder, home) or holds(folder, vim.uv.fs_realpath(home) or home)
end

---Is the program part of this workspace? Also true if it is a link, or a link leads there. The home folder is not a
---workspace.
---@param path string absolute
---@param folder string
function M.is_inside(path, folder)
  local function spelled(name)
    return vim.fs.normalize(name, { expand_env = false })
  end
  local real_path, real_folder = vim.uv.fs_realpath(path) or path, vim.uv.fs_realpath(folder) or folder
  local inside = holds(spelled(folder), spelled(path)) or holds(spelled(real_folder), spelled(real_path))
  return inside and not holds_home(folder)
end

---The nearest folder above the file that has a marker, else the working directory if the file is in it, else the file's
---folder. Never the home folder: a server without a folder itself limits what it reads there.
---@param bufnr? integer of a file; nil: of the working directory
---@param markers? (string|string[])[] of the user, in order
---@return string?
function M.root(bufnr, markers)
  local cwd = vim.fs.normalize(vim.fn.getcwd())
  local path = bufnr and vim.fs.normalize(vim.api.nvim_buf_get_name(bufnr)) or cwd .. '/.'
  local folder
  if markers then
    folder = vim.fs.root(path, markers)
  else
    local marked = vim.fs.find(MARKERS, { upward = true, path = vim.fs.dirname(path) })[1]
    folder = marked and vim.fs.dirname(marked)
  end
  if folder and not holds_home(folder) then
    return folder
  end
  folder = holds(cwd, path) and cwd or vim.fs.dirname(path)
  return not holds_home(folder) and folder or nil
end

return M
