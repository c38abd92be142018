"""A question about code, answered through the tools about symbols: by the index, and by the user's language server."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import INIT, sharing
from tests.editors.neovim.plugin.rest import clear
from tests.editors.neovim.plugin.test_language_servers import START, TOY
from tests.editors.neovim.plugin.test_server import answer, turns
from tests.editors.pool import write_settings

pytestmark = pytest.mark.editor

SCENARIO = Path(__file__).parents[2] / "who_calls.toml"
FILES = {
    "shop/prices.py": "def price(item):\n    return item\n",
    "shop/cart.py": "from shop.prices import price\n\n\n"
    "def total(items):\n    return sum(price(item) * 2 for item in items)\n",
    "notes.py": "def unrelated():\n    return 1\n",
}
SAID = """
    local said = {}
    for _, talk in pairs(require('tark.state').all()[1].transcripts) do
      for _, turn in ipairs(talk.turns) do
        for _, block in ipairs(turn.blocks) do
          if block.kind == 'text' then
            table.insert(said, block.text)
          end
        end
      end
    end
    return said
"""


@pytest.fixture
def neovim(tmp_path: Path) -> Iterator[Neovim]:
    """It shows notes.py, in a workspace that the user trusts."""
    write_settings(tmp_path / "home", SCENARIO, review="after")
    config = tmp_path / "home" / "config" / "tark" / "config.toml"
    config.write_text("workspaceTrusted = true\n" + config.read_text())
    for neovim, folder in sharing(tmp_path, SCENARIO, INIT):
        for name, text in FILES.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        neovim.open(folder / "notes.py")
        yield neovim


def ask(neovim: Neovim, prompt: str) -> list[str]:
    """All that was said, in any order: each turn has a session of its own."""
    count = len(turns(neovim))
    answer(neovim, "tark.turn.start", prompt=prompt)
    neovim.until(lambda: [turn["state"] for turn in turns(neovim)] == ["ended"] * (count + 1), "the turn ended")
    return [str(text) for text in neovim.lua(SAID)]


def test_who_calls_it_and_what_breaks(neovim: Neovim, tmp_path: Path) -> None:
    question = "who calls price and what breaks if it returns None"
    breaks = "If it returns None, `total` breaks: `return sum(price(item) * 2 for item in items)`"
    assert ask(neovim, question) == ["The caller is `total` in `shop/cart.py`, from the index.", breaks]
    neovim.lua(START, [sys.executable, str(TOY)], str(tmp_path / "workspace"), "toy")
    buffers = neovim.lua("return vim.api.nvim_list_bufs()")
    with_server = "The caller is `total` in `shop/cart.py`, from the editor's language server."
    assert with_server in ask(neovim, question)
    assert neovim.lua("return vim.api.nvim_list_bufs()") == buffers, "no file was opened"
    assert not neovim.asks
    assert "It returns 0 now." in ask(neovim, "let price return 0")
    assert (tmp_path / "workspace" / "shop" / "prices.py").read_text() == "def price(item):\n    return 0\n"
    clear(neovim)
