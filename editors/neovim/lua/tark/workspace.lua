---Which file the person is at, how files are called, and which folder is the workspace.
local M = {}

local MARKERS = { '.git', '.hg', '.jj', '.svn', '.tark' }

---@param bufnr integer
---@return boolean
function M.is_file(bufnr)
  return vim.api.nvim_buf_is_valid(bufnr)
    and vim.bo[bufnr].buftype == ''
    and not vim.bo[bufnr].binary -- its text may be no UTF-8, which no server reads
    and vim.api.nvim_buf_get_name(bufnr) ~= ''
    and not vim.api.nvim_buf_get_name(bufnr):match('^%a[%w+.-]+://')
end

---The window of the file the person is at or came from; other windows (chat, quickfix, help) are about it.
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

---The buffer itself if it is a file, else the file the person is at, else the one they were at last.
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
  for _, each in ipairs(vim.fn.getbufinfo({ bufloaded = 1 })) do
    if each.lastused > used and M.is_file(each.bufnr) then
      last, used = each.bufnr, each.lastused
    end
  end
  return last
end

---As vim.uri_from_bufnr() spells it; the server may write it in another way.
---@param uri string
---@return string
function M.normal(uri)
  if uri:match('^file:') then
    local ok, path = pcall(vim.uri_to_fname, uri)
    return ok and vim.uri_from_fname(path) or uri
  end
  return uri
end

---The buffer that shows it, loaded or not. None is made.
---@param uri string
---@return integer? bufnr
function M.buffer(uri)
  uri = M.normal(uri)
  local name = uri:match('^file:') and vim.uri_to_fname(uri) or uri
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    -- Comparing names is cheaper than making a URI of each; on Windows they differ in slashes.
    local own = vim.api.nvim_buf_get_name(bufnr)
    if own ~= '' and (own == name or (own:find('\\', 1, true) and vim.uri_from_bufnr(bufnr) == uri)) then
      return bufnr
    end
  end
end

---A file as the person would name it from here; what is no file by its URI.
---@param uri string
---@return string
function M.name(uri)
  local ok, path = pcall(vim.uri_to_fname, uri)
  return ok and uri:match('^file:') and vim.fn.fnamemodify(path, ':~:.') or uri
end

---@param folder string
---@param path string
local function holds(folder, path)
  return folder == path or vim.startswith(path, folder:sub(-1) == '/' and folder or folder .. '/')
end

---Is it the home folder, or does it hold it? Such a folder is nobody's project.
---@param folder string
local function holds_home(folder)
  local home = vim.fs.normalize(vim.uv.os_homedir() or '~')
  return holds(folder, home) or holds(folder, vim.uv.fs_realpath(home) or home)
end

---The nearest folder above with a marker; else the working directory if the file is in it, else the file's folder.
---Never the home folder: a server without a folder takes care itself of what it may read there.
---@param bufnr? integer of a file; nil: of the working directory
---@param markers? (string|string[])[] the person's, in their order
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
