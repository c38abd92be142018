---What the person set by `setup`, and what holds without it.
local M = {}

---@class tark.Config
---@field cmd? string[] how to start the server; nil: the one that installed the plugin, else `tark-lsp` in PATH
---@field autostart boolean start the server with the first file
---@field root_markers string[] the workspace is the nearest folder above with one of these
---@field settings table the server's settings, in its own words (docs/protocol.md): { model = 'openai/gpt-5' }
---@field keymaps boolean the documented keys, instead of only `<Plug>` ones
---@field chat tark.ChatConfig
---@field permission tark.PermissionConfig

---@class tark.ChatConfig
---@field position 'right'|'left'|'bottom'|'float'
---@field size number a share of the screen, 0 to 1
---@field prompt_lines integer the prompt's height before it grows
---@field opens_for table<string, boolean> kinds of turns that open the chat, without taking the focus

---@class tark.PermissionConfig
---@field border string as in nvim_open_win()
---@field max_lines integer of the float, before one scrolls

---@type tark.Config
M.defaults = {
  cmd = nil,
  autostart = true,
  root_markers = { '.git', '.hg', '.jj', '.tark' },
  settings = vim.empty_dict(),
  keymaps = false,
  chat = {
    position = 'right',
    size = 0.4,
    prompt_lines = 3,
    opens_for = { agent = true, ask = true, explain = true },
  },
  permission = { border = 'rounded', max_lines = 20 },
}

local current = M.defaults ---@type tark.Config

---@return tark.Config
function M.get()
  return current
end

---@param options? table
---@return string[] problems what was not understood and is left at its default, in words
function M.set(options)
  current = vim.tbl_deep_extend('force', M.defaults, options or {})
  return {}
end

return M
