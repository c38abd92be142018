"""Real Neovim, no plugin: a turn from a selection, the choice, the change, one undo; an answer in words opens."""

from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.shapes import AREA, DOCSTRING, HEAD, NEW_AREA, SHAPES
from tests.patience import AT_ONCE

pytestmark = pytest.mark.editor

APPLY = 3  # Review, Reject, Apply, Apply all this turn
REJECT = 2
COMMENT = "# tark: rewrite the area in shapes.py\n"


def open_shapes(neovim: Neovim, tmp_path: Path, text: str) -> None:
    path = tmp_path / "workspace" / "shapes.py"
    path.write_text(text)
    neovim.open(path)


def shows(neovim: Neovim, text: str) -> bool:
    return neovim.lines == text.splitlines()


def test_document_by_a_code_action(neovim: Neovim, tmp_path: Path) -> None:
    open_shapes(neovim, tmp_path, SHAPES)
    neovim.run_action(6, 7, "Document")
    neovim.choose(APPLY)
    neovim.until(lambda: shows(neovim, SHAPES.replace(HEAD, HEAD + DOCSTRING)), "the docstring in the buffer")
    neovim.undo()
    neovim.until(lambda: shows(neovim, SHAPES), "undone in one step")
    assert DOCSTRING not in "\n".join(neovim.lines)


def test_rejected(neovim: Neovim, tmp_path: Path) -> None:
    open_shapes(neovim, tmp_path, SHAPES)
    neovim.run_action(6, 7, "Document")
    neovim.choose(REJECT)
    neovim.until(lambda: neovim.idle, "the turn's end")
    assert shows(neovim, SHAPES)


def test_a_prompt_in_a_comment(neovim: Neovim, tmp_path: Path) -> None:
    neovim.read_messages()
    with_comment = SHAPES.replace(HEAD, COMMENT + HEAD)
    with (tmp_path / "home/config/tark/config.toml").open("a") as config:
        config.write("\n[comments]\nrunOnSave = true\nrunOnUnknownSave = true\n")
    open_shapes(neovim, tmp_path, with_comment)
    neovim.run_action(6, 6, "Run")
    neovim.choose(APPLY)
    neovim.until(lambda: shows(neovim, SHAPES.replace(AREA, NEW_AREA)), "the edit made, the comment gone")
    neovim.undo()
    neovim.until(lambda: shows(neovim, with_comment), "both undone in one step")
    assert neovim.lines.count(COMMENT.rstrip()) == 1

    neovim.action_titles(6, 6)  # before a request, Neovim tells the undo: so what is typed now is another change
    neovim.keys(":6<CR>A !<Esc>:w<CR>")  # it runs on save
    neovim.choose(APPLY)
    neovim.until(lambda: shows(neovim, SHAPES.replace(AREA, NEW_AREA)), "the same edit made, the comment gone")


def test_a_prompt_in_a_comment_apart_from_the_code(neovim: Neovim, tmp_path: Path) -> None:
    """Neovim reports an edit with several hunks line by line. It is still one edit, and one undo step."""
    with_comment = SHAPES.replace(HEAD, f"{COMMENT}\n{HEAD}")
    open_shapes(neovim, tmp_path, with_comment)
    neovim.run_action(6, 6, "Run")
    neovim.choose(APPLY)
    neovim.until(lambda: shows(neovim, SHAPES.replace(HEAD, f"\n{HEAD}").replace(AREA, NEW_AREA)), "the edit made")
    neovim.undo()
    neovim.until(lambda: shows(neovim, with_comment), "all undone in one step")


def test_an_answer_in_words_opens(neovim: Neovim, tmp_path: Path) -> None:
    open_shapes(neovim, tmp_path, SHAPES)
    neovim.run_action(6, 7, "Explain")
    answer = "It multiplies **pi** by the square of the radius."
    neovim.until(lambda: any(answer in lines for lines in neovim.windows), "the answer in a window")
    assert shows(neovim, SHAPES), "the person is still in their own buffer"


def test_typing_while_the_choice_is_about_to_open(neovim: Neovim, tmp_path: Path) -> None:
    """What is typed after the action and before the question stays, and the edit lands below it."""
    open_shapes(neovim, tmp_path, SHAPES)
    neovim.run_action(6, 7, "Document")
    neovim.keys("<Esc>ggO# typed<Esc>")
    neovim.choose(APPLY)
    expected = "# typed\n" + SHAPES.replace(HEAD, HEAD + DOCSTRING)
    neovim.until(lambda: shows(neovim, expected), "both in the buffer")


def test_quitting_ends_the_server(neovim: Neovim, tmp_path: Path) -> None:
    open_shapes(neovim, tmp_path, SHAPES)
    server = neovim.server_process()
    neovim.run_action(6, 7, "Document")
    neovim.until(lambda: neovim.asks, "the question")
    neovim.close()
    server.wait(timeout=AT_ONCE)
