"""Several waiting requests, and a float that is folded, closed by others, or in the way: no request is lost."""

from functools import partial
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.waiting import (
    TEXT,
    asks,
    begin,
    end,
    go,
    gone,
    live,
    mode,
    said,
    shown,
    turn,
    waiting,
)

pytestmark = pytest.mark.editor

LINE = "return vim.fn.line('.')"
ZINDEX = "return vim.api.nvim_win_get_config(require('tark.waiting.window').id()).zindex"
# The clock by which keys are disabled, in milliseconds.
CLOCK = """
    local hrtime = vim.uv.hrtime
    _G.clock = 1000
    vim.uv.hrtime = function() return _G.clock * 1e6 end
    _G.clock_again = function() vim.uv.hrtime = hrtime end
"""


def folded(neovim: Neovim) -> bool:
    there = shown(neovim)
    return there is not None and len(there.lines) == 1


def is_in(neovim: Neovim, wanted: str) -> bool:
    return mode(neovim) == wanted


def here(neovim: Neovim) -> bool:
    """Is it in this tab page?"""
    there = shown(neovim)
    return there is not None and there.here


def test_several_are_listed_walked_through_and_answered(neovim: Neovim, folder: Path) -> None:
    first = begin(neovim, "make one.txt")
    asks(neovim, "one.txt")
    second = begin(neovim, "make two.txt")
    neovim.until(lambda: "1 of 2" in str(shown(neovim)), "the second is counted")
    asks(neovim, "one.txt")  # the first is still the one that is shown
    neovim.keys(":TarkPermission<CR>")
    neovim.choose(2)
    asks(neovim, "two.txt")
    neovim.keys("]")
    asks(neovim, "one.txt")
    neovim.keys("<Tab>")
    assert "2 of 2" in asks(neovim, "two.txt").title
    neovim.keys("[")
    asks(neovim, "one.txt")
    live(neovim)
    neovim.keys("r")
    assert said(end(neovim, first)) == "It is not run."
    assert asks(neovim, "two.txt").focused
    live(neovim)
    neovim.keys("a")
    assert said(end(neovim, second)) == "The command ran."
    gone(neovim)
    assert [path.name for path in folder.glob("*.txt")] == ["two.txt"]
    neovim.keys(":TarkPermission<CR>")
    neovim.until(lambda: "nothing waits for you" in neovim.messages(), "it is said")


def test_left_waiting_and_closed(neovim: Neovim, folder: Path) -> None:
    begin(neovim, "make one.txt")
    asks(neovim, "one.txt")
    go(neovim)
    neovim.keys("q")
    neovim.until(lambda: folded(neovim), "one line")
    assert neovim.lines[0] == "one = 1"
    go(neovim)
    assert "$ echo made > one.txt" in asks(neovim, "one.txt").lines
    neovim.keys("<Esc>")
    neovim.until(lambda: folded(neovim), "one line")
    begin(neovim, "make two.txt")
    asks(neovim, "two.txt")  # what is new is shown

    neovim.keys(":only<CR>")
    gone(neovim)
    assert waiting(neovim) == 2
    begin(neovim, "make three.txt")
    asks(neovim, "three.txt")
    neovim.keys(":tabnew<CR>")
    neovim.until(lambda: neovim.lines == [""] and here(neovim), "it comes along to the next tab")
    neovim.keys(":tabclose<CR>")
    neovim.until(lambda: neovim.lines[0] == "one = 1" and here(neovim), "and back")
    neovim.keys("<C-w>w")
    neovim.until(lambda: getattr(shown(neovim), "focused", False), "it can be gone to like any window")
    neovim.keys(":q<CR>")
    gone(neovim)
    assert neovim.lines[0] == "one = 1"
    go_to = ":lua require('tark.waiting.focus').focus_request()<CR>"
    neovim.keys(go_to)
    live(neovim)
    neovim.keys("c")
    neovim.until(lambda: waiting(neovim) == 2, "answered after all")
    assert not list(folder.glob("*.txt"))
    assert "something went wrong" not in neovim.messages()


def test_who_answers_stays_for_the_next_question(neovim: Neovim, folder: Path) -> None:
    begun = begin(neovim, "run twice")
    asks(neovim, "echo again")
    assert neovim.lua(ZINDEX) < 50, "below what else the person opens"
    go(neovim)
    assert neovim.lua(ZINDEX) > 50
    neovim.keys("a")
    neovim.until(lambda: len(turn(neovim, begun["turnId"])["calls"]) == 2 and waiting(neovim) == 1, "the second")
    assert asks(neovim, "echo again").focused
    neovim.keys("sa")  # too early, and no text for the file
    assert live(neovim).focused
    assert waiting(neovim) == 1
    neovim.keys("r")
    assert said(end(neovim, begun)) == "It is not run."
    gone(neovim)
    assert neovim.lines == TEXT.splitlines(), "back, once nothing more can come"
    assert (folder / "made.txt").read_text() == "again made.txt\n"


def test_a_key_that_is_held_answers_one(neovim: Neovim) -> None:
    for name in ("one", "two", "three"):
        begin(neovim, f"make {name}.txt")
    neovim.until(lambda: waiting(neovim) == 3, "all wait")
    neovim.lua(CLOCK)
    neovim.lua("require('tark.waiting.focus').focus_request()")
    for _ in range(20):
        neovim.lua("_G.clock = _G.clock + 50")
        neovim.keys("r")
    assert waiting(neovim) == 3, "held down since before it was there"
    neovim.lua("_G.clock = _G.clock + 400")
    for _ in range(20):
        neovim.keys("r")
        neovim.lua("_G.clock = _G.clock + 50")
    assert waiting(neovim) == 2
    neovim.lua("_G.clock_again()")


def test_gone_to_from_every_mode(neovim: Neovim) -> None:
    """By a key that the user mapped: the float is always in normal mode."""
    neovim.lua("vim.keymap.set({ 'n', 'i', 'x', 't' }, '<F5>', require('tark.waiting.focus').focus_request)")
    begin(neovim, "make one.txt")
    asks(neovim, "one.txt")
    for keys, there, back in (("i", "i", "n"), ("V", "V", "n"), (":terminal cat<CR>i", "t", "nt")):
        neovim.keys(keys)
        neovim.until(partial(is_in, neovim, there), f"mode {there}")
        neovim.keys("<F5>")
        live(neovim)
        assert mode(neovim) == "n"
        neovim.keys("q")
        neovim.until(lambda: folded(neovim), "left waiting")
        assert mode(neovim) == back
    neovim.keys(":bdelete!<CR>q:")
    neovim.until(lambda: neovim.lua("return vim.fn.getcmdwintype()") == ":", "the command-line window")
    neovim.keys(":TarkPermission<CR>")
    neovim.until(lambda: "it cannot be shown here" in neovim.messages(), "no other window can be gone to from there")
    neovim.keys(":q<CR>")
    go(neovim)
    assert waiting(neovim) == 1


def place(neovim: Neovim) -> tuple[int, int, int] | None:
    """The row, the column and the width of the one line."""
    there = shown(neovim)
    return None if there is None or len(there.lines) > 1 else (there.row, there.column, there.width)


def at(neovim: Neovim, row: int) -> None:
    neovim.until(lambda: place(neovim) == (row, 0, 120), f"the line is at row {row}, not at {place(neovim)}")


def test_one_line_at_the_foot_covers_neither_cursor_nor_hunk_nor_prompt(neovim: Neovim) -> None:
    """Of 38 rows for text, and of 10."""
    neovim.keys("50o<Esc>gg")
    begin(neovim, "make one.txt")
    at(neovim, 37)
    neovim.keys("38G")  # the last row
    at(neovim, 36)
    neovim.keys("gg:write<CR>")
    at(neovim, 37)
    neovim.keys(":TarkChat<CR><Esc>")
    neovim.until(lambda: place(neovim) == (37, 0, 71), "it is below the file, and not on the prompt")
    neovim.keys(":TarkChat<CR>")
    at(neovim, 37)
    neovim.keys(":%d<CR>")
    neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)", TEXT.splitlines())
    neovim.keys(":write<CR>")
    begin(neovim, "change two places")
    neovim.until(lambda: waiting(neovim) == 2, "both wait")
    drawn = "local hunks = require('tark.review.drawing').of_buffer() return hunks and #hunks:ordered()"
    neovim.until(lambda: neovim.lua(drawn) == 2, "two hunks are drawn")
    neovim.resize(120, 12)
    at(neovim, 8)  # the hunk begins in the row below
    neovim.lua("vim.api.nvim_buf_set_lines(0, 4, 6, false, {})")  # as another program could do
    at(neovim, 6)  # the hunk is two rows higher
    neovim.lua("vim.api.nvim_buf_set_lines(0, 4, 4, false, { '', '', '', '' })")
    at(neovim, 9)  # below the window
    neovim.resize(120, 40)


def test_it_keeps_clear_of_the_cursor_while_it_is_whole(neovim: Neovim) -> None:
    """Questions are."""
    neovim.keys("ggdG30o<Esc>gg")
    begun = begin(neovim, "ask for one colour")
    neovim.until(lambda: not getattr(shown(neovim), "above", True), "below the cursor")
    neovim.keys("G")
    neovim.until(lambda: getattr(shown(neovim), "above", False), "above the cursor")
    neovim.keys("gg")
    neovim.until(lambda: not getattr(shown(neovim), "above", True), "below the cursor")
    whole = shown(neovim)
    assert whole is not None
    neovim.resize(60, 16)
    neovim.keys("8G")
    neovim.until(lambda: getattr(shown(neovim), "height", 99) < whole.height, "as high as there is room")
    assert neovim.lua(LINE) == 8
    neovim.resize(120, 40)
    go(neovim)
    neovim.until(lambda: getattr(shown(neovim), "height", 0) == whole.height, "whole where it is gone to")
    neovim.keys("d")
    end(neovim, begun)
