---Highlights the chat as Markdown, by treesitter where there is a parser.
local M = {}

---Neovim's own query, but that no line is hidden whole (code fences are): to know those Neovim parses once for each
---line that it measures, at each redraw, which in a long answer that streams takes the keys a tenth of a second.
---@return string
local function query()
  local parts = {}
  for _, path in ipairs(vim.treesitter.query.get_files('markdown', 'highlights')) do
    local text = table.concat(vim.fn.readfile(path), '\n')
    text = text:gsub('%(#set! conceal ""%)(%s*)%(#set! conceal_lines ""%)', '%1') -- else an empty line is left
    table.insert(parts, (text:gsub('%(#set! conceal_lines ""%)', '')))
  end
  return table.concat(parts, '\n')
end

---@param bufnr integer
local function start(bufnr)
  local parser = assert(vim.treesitter.get_parser(bufnr, 'markdown'))
  vim.treesitter.highlighter.new(parser, { queries = { markdown = query() } })
end

---@param bufnr integer
function M.highlight(bufnr)
  vim.treesitter.language.register('markdown', { 'tark', 'tark_prompt' })
  if not pcall(start, bufnr) and not pcall(vim.treesitter.start, bufnr, 'markdown') then
    vim.bo[bufnr].syntax = 'markdown'
  end
end

return M
