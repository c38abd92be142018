---Highlights the chat as Markdown, by treesitter if there is a parser.
local M = {}

---Neovim's own query of that name, without the patterns that make it slow while a long answer streams.
---@param name 'highlights'|'injections'
---@param without string pattern
---@return string
local function query(name, without)
  local parts = {}
  for _, path in ipairs(vim.treesitter.query.get_files('markdown', name)) do
    table.insert(parts, (table.concat(vim.fn.readfile(path), '\n'):gsub(without, '')))
  end
  return table.concat(parts, '\n')
end

---@param bufnr integer
local function start(bufnr)
  -- With combined injections Neovim parses the whole text after each edit, else only what is on the screen.
  local injections = query('injections', '%(#set! injection%.combined%)')
  local parser = assert(vim.treesitter.get_parser(bufnr, 'markdown', { injections = { markdown = injections } }))
  -- If whole lines are hidden (as code fences are), it parses once for each line that it measures.
  local highlights = query('highlights', '%(#set! conceal ""%)%s*%(#set! conceal_lines ""%)')
  vim.treesitter.highlighter.new(parser, { queries = { markdown = highlights } })
end

---The prompt does not use treesitter: the parser would crash if the user pasted deeply nested text (text.lua:
---`limit_nesting`).
---@param bufnr integer
---@param part tark.ChatPart
function M.highlight(bufnr, part)
  vim.treesitter.language.register('markdown', { 'tark' })
  if part == 'prompt' then
    vim.bo[bufnr].syntax = 'markdown'
  elseif not pcall(start, bufnr) and not pcall(vim.treesitter.start, bufnr, 'markdown') then
    vim.bo[bufnr].syntax = 'markdown'
  end
end

return M
