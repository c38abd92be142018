"""`:help tark` describes everything that a user can use, and nothing that does not exist."""

import re
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import PLUGIN, Start

pytestmark = pytest.mark.editor

NAMES = """
    local names = {}
    local function add(name)
      table.insert(names, name)
    end
    for command in pairs(vim.api.nvim_get_commands({})) do
      if command:match('^Tark') then
        add(':' .. command)
      end
    end
    for _, map in ipairs(vim.api.nvim_get_keymap('n')) do
      if map.lhs:match('^<Plug>%(tark') then
        add(map.lhs)
      end
    end
    for name in pairs(require('tark')) do
      add(name == 'setup' and 'tark-setup' or ('tark.%s()'):format(name))
    end
    for group in pairs(require('tark.highlights').LINKS) do
      add('hl-' .. group)
    end
    return names
"""
OPTIONS = """
    local found = {}
    local optional = { 'cmd', 'root_markers', 'border' }
    local function collect(options, prefix)
      for name, value in pairs(options) do
        if type(value) == 'table' and next(value) and prefix == '' then
          collect(value, name .. '.')
        else
          table.insert(found, 'tark-option-' .. prefix .. name)
        end
      end
    end
    collect(require('tark.config').defaults, '')
    for _, name in ipairs(optional) do
      table.insert(found, 'tark-option-' .. name)
    end
    return found
"""
CHAT_KEYS = """
    local keys = {}
    for _, row in ipairs(require('tark.chat.keys').table) do
      vim.list_extend(keys, row[3])
    end
    return keys
"""
KEYS = """
    return vim.tbl_map(function(row)
      return { row[2], ('<Plug>(tark-%s)'):format(row[3]) }
    end, require('tark.commands.keymaps').keys)
"""
PATTERNS = ["TarkTurnStart", "TarkTurnEnd", "TarkHunks", "TarkPermission"]


def tags(text: str) -> set[str]:
    return set(re.findall(r"(?<!\S)\*(\S+)\*(?!\S)", text))


def test_everything_has_its_place_in_the_help(start: Start, tmp_path: Path) -> None:
    neovim: Neovim = start()
    text = (PLUGIN / "doc" / "tark.txt").read_text()
    found = tags(text)
    names = {*neovim.lua(NAMES), *neovim.lua(OPTIONS), *PATTERNS}
    assert names - found == set()
    assert {tag for tag in found - names if not re.fullmatch(r"tark(\.txt|-\w+)?", tag)} == set()
    chat = text[text.index("*tark-chat*") : text.index("*tark-review*")].split()
    assert set(neovim.lua(CHAT_KEYS)) - set(chat) == set()
    for key, plug in neovim.lua(KEYS):
        (line,) = (line for line in text.splitlines() if f"*{plug}*" in line)
        assert key in line.split()

    (tmp_path / "doc").mkdir()
    (tmp_path / "doc" / "tark.txt").write_text(text)
    assert neovim.lua("vim.cmd.helptags(...); return vim.v.errmsg", str(tmp_path / "doc")) == ""
    assert [line for line in text.splitlines() if len(line) > 78] == []
    links = set(re.findall(r"(?<!\S)\(?\|([^\s|]+)\|", text))
    assert {
        link for link in links if not neovim.lua("return vim.fn.getcompletion(..., 'help')[1]", link)
    } - found == set()


def test_keys_are_set_where_they_are_asked_for(start: Start, tmp_path: Path) -> None:
    """Keys that are mapped already are left alone. which-key gets the group's name."""
    init = tmp_path / "init.lua"
    init.write_text(
        """
        vim.g.mapleader = ' '
        vim.opt.runtimepath:prepend(vim.env.PLUGIN)
        package.loaded['which-key'] = { add = function(spec) vim.g.group = { group = spec[1].group } end }
        vim.keymap.set('n', ']h', 'gg')
        require('tark').setup({ keymaps = true })
        """
    )
    neovim: Neovim = start(init=init)
    mapped = "local key, mode = ...; return vim.fn.maparg(key, mode)"
    assert neovim.lua(mapped, " ae", "x") == "<Plug>(tark-edit)"
    assert neovim.lua(mapped, "[h", "n") == "<Plug>(tark-prev-hunk)"
    assert neovim.lua(mapped, "]h", "n") == "gg"
    assert neovim.lua("return vim.fn.maparg(' ae', 'n', false, true).desc").startswith(
        "Tark: Change only the selection"
    )
    assert neovim.lua("return vim.g.group")["group"] == "tark"
    assert neovim.lua(mapped, " aa", "o") == ""
