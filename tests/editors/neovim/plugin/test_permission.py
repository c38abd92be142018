"""Permission in the plugin: requests are shown completely, without the focus, and answered by keys."""

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
    said,
    shown,
    waiting,
)

pytestmark = pytest.mark.editor

LINE = " Tark asks: run_command echo made > made.txt :TarkPermission to answer "
EDIT_LINE = " Tark asks: edit a.py :TarkPermission to answer "


def test_a_command_is_shown_whole_and_allowed(neovim: Neovim, folder: Path) -> None:
    begun = begin(neovim, "make made.txt")
    line = asks(neovim, "echo made > made.txt")
    assert (line.lines, line.height, line.focused) == ([LINE], 1, False)
    assert neovim.lines == TEXT.splitlines(), "the focus stayed"
    there = go(neovim)
    assert there.focused
    assert "$ echo made > made.txt" in there.lines
    assert "risky, asked because it runs a command" in there.text
    assert f"in   {folder}" in there.text
    assert "by   /bin/bash -c" in there.text
    assert "t allow exactly this command in this folder, this turn" in there.text
    neovim.keys("<CR>")  # goes down a line, and nothing else
    neovim.keys("a")
    assert said(end(neovim, begun)) == "The command ran."
    assert (folder / "made.txt").read_text() == "made\n"
    gone(neovim)
    assert neovim.lines == TEXT.splitlines(), "back where the person came from"

    # The key that was mapped is the one that is shown.
    neovim.keys(":nmap gp <lt>Plug>(tark-permission)<CR>")
    begun = begin(neovim, "make more.txt")
    asks(neovim, "gp to answer")
    neovim.keys("gp")
    live(neovim)
    neovim.keys("r")
    assert said(end(neovim, begun)) == "It is not run."
    assert not (folder / "more.txt").exists()
    neovim.keys(":nunmap gp<CR>")


def test_a_reason_goes_to_the_model(neovim: Neovim, folder: Path) -> None:
    begun = begin(neovim, "make made.txt")
    asks(neovim, "made.txt")
    go(neovim)
    neovim.keys("R")
    neovim.until(lambda: neovim.asks, "the reason is asked for")
    neovim.keys("never mind<Esc>")
    neovim.until(lambda: not neovim.asks, "back")
    assert waiting(neovim) == 1, "nothing was answered"
    neovim.keys("R")
    neovim.until(lambda: neovim.asks, "the reason is asked for")
    neovim.keys("write it by hand<CR>")
    ended = end(neovim, begun)
    assert said(ended) == "It is not run."
    (call,) = [block for block in ended["blocks"] if block["kind"] == "toolCall"]
    assert "write it by hand" in str(call["content"])
    assert not (folder / "made.txt").exists()


def test_what_a_grant_covers_is_not_asked_again(neovim: Neovim, folder: Path) -> None:
    begun = begin(neovim, "run twice")
    asks(neovim, "echo again")
    go(neovim)
    neovim.keys("t")
    assert said(end(neovim, begun)) == "The command ran."
    assert (folder / "made.txt").read_text() == "again made.txt\n" * 2

    again = begin(neovim, "run twice", begun["sessionId"])
    asks(neovim, "echo again")
    go(neovim)
    neovim.keys("s")
    end(neovim, again)
    end(neovim, begin(neovim, "run twice", begun["sessionId"]))
    assert waiting(neovim) == 0, "the session's grant is for later turns, too"
    assert len((folder / "made.txt").read_text().splitlines()) == 4


def test_edits_are_one_diff_decided_whole_or_hunk_by_hunk(neovim: Neovim) -> None:
    begun = begin(neovim, "change two places")
    assert asks(neovim, "a.py").lines == [EDIT_LINE], "the rest is in the window of the file"
    there = go(neovim)
    assert there.lines[3:10] == [
        "file a.py",
        "line 1",
        "-one = 1",
        "+one = 11",
        "line 9",
        "-nine = 9",
        "+nine = 99",
    ]
    neovim.keys("a")
    assert said(end(neovim, begun)) == "The edit is in place."
    neovim.until(lambda: neovim.lines[0] == "one = 11", "the edit")
    assert neovim.lines[8:] == ["nine = 99", "ten = 10"]
    neovim.keys("u")
    neovim.until(lambda: neovim.lines == TEXT.splitlines(), "undone")

    neovim.keys("3G")
    begun = begin(neovim, "change two places")
    asks(neovim, "a.py")
    go(neovim)
    neovim.keys("e")
    neovim.until(lambda: neovim.lua("return vim.fn.line('.')") == 1, "at the first hunk")
    folded = shown(neovim)
    assert folded is not None
    assert folded.lines == [EDIT_LINE], "out of the way, and still there"
    assert not folded.focused
    neovim.keys(":TarkReject<CR>")
    left = "return #require('tark.state').all()[1].hunks[vim.uri_from_bufnr(0)].hunks"
    neovim.until(lambda: neovim.lua(left) == 1, "one is decided")
    assert len(getattr(shown(neovim), "lines", [])) == 1, "still out of the way"
    go(neovim)
    rest = asks(neovim, "1 of 2 decided already")
    assert rest.lines[3:8] == ["file a.py", "line 9", "-nine = 9", "+nine = 99", "+ten = 10"]
    neovim.keys("e")
    neovim.until(lambda: neovim.lua("return vim.fn.line('.')") == 9, "at the hunk that is left")
    neovim.keys(":TarkAccept<CR>")
    assert said(end(neovim, begun)) == "It is left as it is.", "the model is told of the one that was rejected"
    gone(neovim)
    neovim.until(lambda: neovim.lines[8:] == ["nine = 99", "ten = 10"], "only the second")
    assert neovim.lines[0] == "one = 1"


def test_a_deletion_is_said_in_words(neovim: Neovim, folder: Path) -> None:
    begun = begin(neovim, "delete a file")
    asks(neovim, "delete a.py")
    there = go(neovim)
    assert "DANGEROUS, asked because" in there.text
    assert "-nine = 9" in there.lines
    assert " s " not in there.footer, "nothing more than this can be allowed"
    neovim.keys("c")
    assert end(neovim, begun)["stopReason"] == "cancelled"
    gone(neovim)
    assert (folder / "a.py").exists()


def test_what_is_longer_must_be_read_to_its_end(neovim: Neovim, folder: Path) -> None:
    begun = begin(neovim, "run a long script")
    asks(neovim, "echo 01")
    there = go(neovim)
    assert "more lines below" in there.title
    assert "$ echo hidden at the end > long.txt" in there.lines
    neovim.keys("a")
    neovim.until(lambda: "read it to its end first" in neovim.messages(), "it is said why not")
    assert waiting(neovim) == 1
    neovim.keys("G")
    neovim.until(lambda: "below" not in str(shown(neovim)), "the end")
    neovim.keys("a")
    assert said(end(neovim, begun)) == "The command ran."
    assert (folder / "long.txt").exists()
