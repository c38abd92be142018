"""What the plugin answers to `tark/clientState` about code: what the other language servers of Neovim say."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import INIT, SCENARIO, sharing

pytestmark = pytest.mark.editor

TOY = Path(__file__).parents[2] / "toy_language_server.py"
SHOP = "def price(item):\n    return 3\n"
CART = 'from shop import price\n\n\ndef total(items):\n    pie = "🥧"; return sum(price(item) for item in items)\n'
START = """
    local command, folder, name, filetypes = ...
    local started = vim.lsp.start({ name = name, cmd = command, root_dir = folder, filetypes = filetypes })
    vim.wait(10000, function() return vim.lsp.get_client_by_id(started).initialized end)
"""
ASK = """
    local client = vim.lsp.get_clients({ name = 'tark' })[1]
    vim.g.told = nil
    coroutine.wrap(function(params)
      vim.g.told = { require('tark.server.client_state').answer(params, client.id) }
    end)(...)
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    """A Neovim that shows cart.py, with a language server of the user; shop.py is not open."""
    for neovim, folder in sharing(tmp_path_factory.mktemp("servers"), SCENARIO, INIT):
        (folder / "shop.py").write_text(SHOP)
        (folder / "cart.py").write_text(CART)
        neovim.open(folder / "cart.py")
        neovim.lua(START, [sys.executable, str(TOY)], str(folder), "toy")
        yield neovim, folder


def ask(neovim: Neovim, **params: Any) -> dict[str, Any]:
    neovim.lua(ASK, params)
    (found,) = neovim.until(lambda: neovim.lua("return vim.g.told"), "it answers")
    return dict(found)


def at(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def files(found: Any) -> list[tuple[str, int]]:
    return [(item["uri"].rsplit("/", 1)[-1], item["range"]["start"]["line"]) for item in found]


def test_an_open_file(desk: tuple[Neovim, Path]) -> None:
    """The position is in bytes, since the server of this plugin counts so, and the other one in UTF-16."""
    neovim, folder = desk
    uri = (folder / "cart.py").as_uri()
    column = len(CART.splitlines()[4].partition("price")[0].encode())
    place = {"uri": uri, "position": at(4, column)}
    assert files(ask(neovim, want=["definition"], **place)["definition"]) == [("shop.py", 0)]
    assert files(ask(neovim, want=["references"], **place)["references"]) == [("cart.py", 0), ("cart.py", 4)]
    assert ask(neovim, want=["hover"], **place)["hover"] == "toy: **price**"
    calls = ask(neovim, want=["callHierarchy"], **place)["callHierarchy"]
    assert [call["from"]["name"] for call in calls["incoming"]] == ["total"]
    assert calls["outgoing"] == []
    (total,) = ask(neovim, want=["symbols"], uri=uri)["symbols"]
    assert total["name"] == "total"
    assert ask(neovim, want=["definition"], uri=uri, position=at(1, 0)) == {"definition": []}


def test_unsaved_text(desk: tuple[Neovim, Path]) -> None:
    neovim, folder = desk
    neovim.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'def cheap(): ...' })")
    found = ask(neovim, want=["symbols"], uri=(folder / "cart.py").as_uri())["symbols"]
    neovim.lua("vim.cmd('undo')")
    assert [symbol["name"] for symbol in found] == ["cheap", "total"]


def test_a_file_that_is_not_open(desk: tuple[Neovim, Path]) -> None:
    """No buffer is made for it, and the server does not keep it."""
    neovim, folder = desk
    uri = (folder / "shop.py").as_uri()
    buffers = neovim.lua("return #vim.api.nvim_list_bufs()")
    for _ in range(2):
        found = ask(neovim, want=["references"], uri=uri, position=at(0, 5))["references"]
        assert files(found) == [("cart.py", 0), ("cart.py", 4)]
    assert neovim.lua("return #vim.api.nvim_list_bufs()") == buffers
    neovim.lua("vim.cmd('edit shop.py')")
    assert ask(neovim, want=["symbols"], uri=(folder / "shop.py").as_uri()) == {}, "the toy is not attached to it"
    neovim.lua("vim.cmd('bdelete')")
    assert ask(neovim, want=["symbols"], uri=(folder / "none.py").as_uri()) == {}
    assert ask(neovim, want=["symbols"], uri=(folder / "notes.md").as_uri()) == {}, "it is about Python"
    assert ask(neovim, want=["symbols"], uri=(folder.parent / "other.py").as_uri()) == {}, "it is elsewhere"


def test_a_file_whose_ending_says_not_enough(desk: tuple[Neovim, Path]) -> None:
    """`.ts` can be TypeScript or a translation of Qt, in XML."""
    neovim, folder = desk
    neovim.lua(START, [sys.executable, str(TOY)], str(folder), "typescript", ["typescript"])
    (folder / "shop.ts").write_text(SHOP)
    (folder / "german.ts").write_text('<?xml version="1.0"?>\n' + SHOP)
    buffers = neovim.lua("return vim.api.nvim_list_bufs()")
    (symbol,) = ask(neovim, want=["symbols"], uri=(folder / "shop.ts").as_uri())["symbols"]
    assert symbol["name"] == "price"
    assert ask(neovim, want=["symbols"], uri=(folder / "german.ts").as_uri()) == {}
    assert neovim.lua("return vim.api.nvim_list_bufs()") == buffers
    assert neovim.lua("return vim.o.eventignore") == ""
    neovim.lua("vim.lsp.get_clients({ name = 'typescript' })[1]:stop(true)")
    neovim.until(lambda: neovim.lua("return #vim.lsp.get_clients({ name = 'typescript' }) == 0"), "it is stopped")


def test_symbols_of_the_workspace(desk: tuple[Neovim, Path]) -> None:
    neovim, _ = desk
    found = ask(neovim, want=["symbols"], query="pri")["symbols"]
    assert [symbol["name"] for symbol in found] == ["price"]


def test_a_server_that_does_not_answer(desk: tuple[Neovim, Path]) -> None:
    """The answer of the others comes in time, and the user notices nothing."""
    neovim, folder = desk
    neovim.lua(START, [sys.executable, str(TOY), "silent"], str(folder), "silent")
    place = {"uri": (folder / "cart.py").as_uri(), "position": at(0, 20)}
    assert ask(neovim, want=["hover"], **place)["hover"] == "toy: **price**"
    neovim.lua("vim.lsp.stop_client(vim.lsp.get_clients({ name = 'silent' })[1].id, true)")
    assert not neovim.asks
    assert neovim.lua("return vim.api.nvim_win_get_cursor(0)") == [1, 0]
