"""Real Neovim, no plugin: a chat in notes.tark.md, sent by a code action, streamed, with links that jump to code."""

from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.shapes import SHAPES

pytestmark = pytest.mark.editor

SLOW = (
    "This answer is long and comes in small pieces, one after the other, until somebody stops it or it is at its end."
)
FOUND = """\
where is the area

## Tark

I look.

> read_file shapes.py

The area is here:

[shapes.py:6-7](shapes.py#L6-L7)

````py
def area(radius):
    return math.pi * radius**2
````

\\## You
This heading is not the person's.

## You

"""


def open_chat(neovim: Neovim, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "workspace"
    (folder / "shapes.py").write_text(SHAPES)
    path = folder / "notes.tark.md"
    path.write_text(text)
    neovim.open(path)


def shows(neovim: Neovim, text: str) -> bool:
    return neovim.lines == text.splitlines()


def test_sent_answered_and_jumped_to_code(neovim: Neovim, tmp_path: Path) -> None:
    open_chat(neovim, tmp_path, "where is the area\n")
    assert neovim.action_titles(1, 1) == ["Send: where is the area"]
    neovim.run_action(1, 1, "Send")
    neovim.until(lambda: shows(neovim, FOUND), "the answer")
    assert len(neovim.windows) == 1, "it is not shown a second time"
    assert neovim.action_titles(1, 1) == []
    neovim.keys("<Esc>/shapes.py:6<CR><C-]>")
    neovim.until(lambda: shows(neovim, SHAPES), "the code")
    assert neovim.lua("return vim.fn.line('.')") == 6


def test_typing_while_it_streams(neovim: Neovim, tmp_path: Path) -> None:
    open_chat(neovim, tmp_path, "talk a while\n")
    neovim.run_action(1, 1, "Send")
    neovim.until(lambda: any(line.startswith("This answer") for line in neovim.lines), "the first words")
    neovim.keys("<Esc>ggOabove<Esc>Gobelow<Esc>")
    wanted = f"above\ntalk a while\n\n## Tark\n\n{SLOW}\n\n## You\n\nbelow\n"
    neovim.until(lambda: shows(neovim, wanted), "the answer between what was typed")
    assert len(neovim.windows) == 1, "it is not shown a second time"


def test_folded_and_completed(neovim: Neovim, tmp_path: Path) -> None:
    open_chat(neovim, tmp_path, "## You\n\none\n\n## Tark\n\ntwo\nthree\n\n## You\n\n")
    folded = """
        vim.wo.foldmethod, vim.wo.foldexpr, vim.wo.foldlevel = 'expr', 'v:lua.vim.lsp.foldexpr()', 0
        return { vim.fn.foldclosedend(1), vim.fn.foldclosedend(5) }
    """
    neovim.until(lambda: neovim.lua(folded) == [3, 8], "the folds")
    neovim.lua("vim.wo.foldenable = false")
    neovim.keys("<Esc>Goask about @file:sha<C-x><C-o>")
    neovim.until(lambda: neovim.lines[-1] == "ask about @file:shapes.py", "the path")
    assert neovim.lines.count("## You") == 2, "folding and completion change nothing else"
