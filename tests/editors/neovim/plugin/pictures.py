"""What review draws into a buffer, as text: each line of the buffer and each virtual one, with what it is in front.

`  kept`, `- old` and `+ new` stand in the buffer, `! mine` does in a conflict; `-: old`, `+: new` and `T: words` are
drawn between them. `X` is a mark that belongs to no line any more.
"""

from pathlib import Path

from tests.editors.neovim.driver import Neovim

PICTURE = """
    local bufnr = ...
    local count = vim.api.nvim_buf_line_count(bufnr)
    local kinds, above, below, beyond = {}, {}, {}, {}
    local signs = { TarkAdded = '+', TarkRemoved = '-', TarkConflict = '!' }
    local function put(where, row, lines)
      where[row] = where[row] or {}
      for _, chunks in ipairs(lines) do
        local text, signed = '', chunks[1][2]:match('Sign$')
        for index = signed and 2 or 1, #chunks do
          text = text .. chunks[index][1]
        end
        local sign = (signed and chunks[1][1]:sub(1, 1) or 'T') .. ': '
        table.insert(where[row], sign .. text:gsub('%s+$', ''))
      end
    end
    local namespace = vim.api.nvim_create_namespace('tark_review')
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })) do
      local row, details = mark[2], mark[4]
      if row >= count then -- between a change of the text and the next drawing
        table.insert(beyond, 'X a mark behind the last line')
      end
      for line = row, details.line_hl_group and details.end_row or -1 do
        kinds[line] = signs[details.line_hl_group]
      end
      if details.virt_lines then
        put(details.virt_lines_above and above or below, row, details.virt_lines)
      end
    end
    local found = {}
    for row, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
      vim.list_extend(found, above[row - 1] or {})
      table.insert(found, (kinds[row - 1] or ' ') .. ' ' .. line)
      vim.list_extend(found, below[row - 1] or {})
    end
    return vim.list_extend(found, beyond)
"""
HINTS = """
    local bufnr = ...
    local namespace = vim.api.nvim_create_namespace('tark_review')
    local found = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })) do
      if mark[4].virt_text then
        table.insert(found, ('%d%s'):format(mark[2] + 1, mark[4].virt_text[1][1]))
      end
    end
    return found
"""


def picture(neovim: Neovim, bufnr: int = 0) -> list[str]:
    return list(neovim.lua(PICTURE, bufnr))


def hints(neovim: Neovim, bufnr: int = 0) -> list[str]:
    """The text at the end of lines, with their numbers in front."""
    return list(neovim.lua(HINTS, bufnr))


def changes(neovim: Neovim, bufnr: int = 0) -> list[str]:
    """Only the lines with changes."""
    return [line for line in picture(neovim, bufnr) if not line.startswith("  ")]


def drawn(neovim: Neovim, *expected: str) -> None:
    """Waits until the current buffer has exactly these changes."""
    neovim.until(lambda: changes(neovim) == [*expected], f"{expected} in {picture(neovim)}")


def followed(neovim: Neovim) -> None:
    """Waits until the server has followed the text: until then, the client itself says where the changes are."""
    code = """
        local versions = vim.tbl_map(function(entry)
          return entry.version
        end, require('tark.review.hunks').undecided(vim.api.nvim_get_current_buf()))
        return #versions > 0 and vim.iter(versions):all(function(version)
          return version == vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]
        end)
    """
    neovim.until(lambda: neovim.lua(code), "the server has followed the text")


def init(folder: Path, settings: str = "{}") -> Path:
    """An init.lua with these settings of the server, in which prompts do not open the chat."""
    path = folder / "init.lua"
    path.write_text(
        f"""
        vim.opt.runtimepath:prepend(vim.env.PLUGIN)
        require('tark').setup({{
          cmd = {{ vim.env.PYTHON, '-m', 'tark_lsp' }},
          root_markers = {{ '.project' }},
          settings = {settings},
          chat = {{ opens_for = {{ agent = false, edit = false }} }},
        }})
        """
    )
    return path
