"""Real Neovim, no plugin: five hunks in two files, reviewed by its diagnostics list and its code action key."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.shapes import (
    AREA,
    CUBE,
    FACES,
    NEW_AREA,
    NEW_CUBE,
    NEW_FACES,
    NEW_VOLUME,
    SHAPES,
    SOLIDS,
    VOLUME,
)

pytestmark = pytest.mark.editor

REVIEW = 1  # Review, Reject, and after Review also Apply, Apply all this turn
COMMENT = "# tark: tidy both files\n"
COMMANDED = """
    local name, argument = ...
    local client = vim.lsp.get_clients({ name = 'tark' })[1]
    local params = { command = name, arguments = { argument } }
    return client:request_sync('workspace/executeCommand', params, 10000, 0).result
"""
LISTED = """
    return vim.tbl_map(function(item)
      return { vim.fn.bufname(item.bufnr), item.lnum, item.text }
    end, vim.fn.getqflist())
"""


@pytest.fixture
def reviewing(neovim: Neovim, tmp_path: Path) -> Neovim:
    """Runs the comment in shapes.py, reviews the change, and does not answer the question after that."""
    folder = tmp_path / "workspace"
    (folder / "solids.py").write_text(SOLIDS)
    (folder / "shapes.py").write_text(COMMENT + SHAPES)
    neovim.open(folder / "shapes.py")
    neovim.run_action(1, 1, "Run")
    neovim.choose(REVIEW)
    neovim.until(lambda: neovim.asks, "the question again, now that all was seen")
    neovim.keys("<Esc>")
    neovim.until(lambda: not neovim.asks, "the question left alone")
    neovim.until(lambda: len(neovim.lua("return vim.diagnostic.get()")) == 5, "five hunks in the list")
    return neovim


def lines_of(neovim: Neovim) -> str:
    return "".join(f"{line}\n" for line in neovim.lines)


def shows(neovim: Neovim, text: str) -> bool:
    return lines_of(neovim) == text


def on_disk(tmp_path: Path) -> str:
    return (tmp_path / "workspace" / "solids.py").read_text()


def left_here(neovim: Neovim, lines: list[int]) -> None:
    """Waits until the buffer's list is as expected: Neovim reports changes after 150 ms."""
    left = "return vim.tbl_map(function(diagnostic) return diagnostic.lnum + 1 end, vim.diagnostic.get(0))"
    neovim.until(lambda: neovim.lua(left) == lines, f"hunks at the lines {lines}")


def decide(neovim: Neovim, title: str, expected: str) -> None:
    """Uses the code action key at the cursor, until the buffer is as expected."""
    line = neovim.lua("return vim.fn.line('.')")
    titles = neovim.action_titles(line, line)
    (number,) = [number for number, listed in enumerate(titles, 1) if listed.startswith(f"{title} (")]
    neovim.keys("gra")
    neovim.choose(number)
    neovim.until(lambda: lines_of(neovim) == expected, f"{title} at line {line}")


def test_five_hunks_in_two_files(reviewing: Neovim, tmp_path: Path) -> None:
    neovim = reviewing
    start = lines_of(neovim)
    neovim.lua("vim.diagnostic.setqflist({ open = false })")
    listed: list[tuple[str, int, str]] = [(Path(name).name, line, text) for name, line, text in neovim.lua(LISTED)]
    assert [(name, line) for name, line, _ in listed] == [
        ("shapes.py", 1),
        ("shapes.py", 8),
        ("shapes.py", 18),
        ("solids.py", 2),
        ("solids.py", 12),
    ]
    assert listed[1][2] == "Tark proposes (+1 -1): return math.tau / 2 * radius**2"

    neovim.keys("G]d")  # round to the comment, which goes with the change
    without = start.replace(COMMENT, "")
    decide(neovim, "Accept", without)
    left_here(neovim, [7, 17])
    neovim.keys("gg]d")
    assert neovim.lua("return vim.fn.line('.')") == 7
    with_area = without.replace(AREA, NEW_AREA)
    decide(neovim, "Accept", with_area)
    left_here(neovim, [17])
    neovim.keys("]d")
    decide(neovim, "Reject", with_area)
    left_here(neovim, [])

    neovim.lua("vim.diagnostic.setqflist({ open = false })")
    neovim.keys(":cfirst<CR>")
    neovim.until(lambda: lines_of(neovim) == SOLIDS, "the other file, from the list")
    with_cube = SOLIDS.replace(CUBE, NEW_CUBE)
    decide(neovim, "Accept", with_cube)
    neovim.keys(":cnext<CR>")
    decide(neovim, "Reject", with_cube)

    neovim.until(lambda: neovim.idle, "the turn's end, with its last hunk")
    neovim.until(lambda: neovim.lua("return vim.diagnostic.get()") == [], "nothing left in the list")
    neovim.keys("u")
    neovim.until(lambda: lines_of(neovim) == SOLIDS, "one step takes one accept back")
    neovim.keys(":buffer shapes.py<CR>")
    neovim.until(lambda: lines_of(neovim) == with_area, "back")
    for expected in (without, start):
        neovim.keys("u")
        neovim.until(partial(shows, neovim, expected), "one step for each accept")
    assert NEW_VOLUME not in lines_of(neovim)
    assert VOLUME in lines_of(neovim)
    assert FACES in on_disk(tmp_path)
    assert NEW_FACES not in on_disk(tmp_path)


def test_all_at_once_and_the_turn_taken_back(reviewing: Neovim) -> None:
    neovim = reviewing
    start = lines_of(neovim)
    turn = neovim.lua(COMMANDED, "tark.hunk.list", {})["hunks"][0]["turnId"]
    line = 8
    titles = neovim.action_titles(line, line)
    (number,) = [number for number, listed in enumerate(titles, 1) if listed == "Accept all 5 in 2 files"]
    neovim.keys(f"{line}Ggra")
    neovim.choose(number)
    changed = SHAPES.replace(AREA, NEW_AREA).replace(VOLUME, NEW_VOLUME)
    neovim.until(lambda: lines_of(neovim) == changed, "all of this file")
    neovim.until(lambda: neovim.idle, "the turn's end")
    neovim.keys(":split solids.py<CR>")
    both = SOLIDS.replace(CUBE, NEW_CUBE).replace(FACES, NEW_FACES)
    neovim.until(lambda: lines_of(neovim) == both, "all of the other")
    undone: Any = neovim.lua(COMMANDED, "tark.turn.undo", {"turnId": turn})
    assert undone["kept"] == []
    neovim.until(lambda: lines_of(neovim) == SOLIDS, "taken back")
    neovim.keys(":quit<CR>")
    neovim.until(lambda: lines_of(neovim) == start, "taken back here, too")


def test_a_hunk_is_hovered(reviewing: Neovim) -> None:
    neovim = reviewing
    neovim.keys("8G\\ad")
    shown = [f"-{AREA.rstrip()}", f"+{NEW_AREA.rstrip()}"]
    neovim.until(lambda: any(all(line in window for line in shown) for window in neovim.windows), "the diff")
