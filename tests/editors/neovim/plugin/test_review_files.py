"""Files to be created, moved or deleted, reviewed in a real Neovim with the plugin."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import sharing
from tests.editors.neovim.plugin.pictures import changes, drawn, init, picture
from tests.editors.neovim.plugin.rest import clear
from tests.editors.neovim.plugin.turns import told, unhurt

pytestmark = pytest.mark.editor

SCENARIO = Path(__file__).with_name("review.toml")
LONG = "".join(f"{'x' * 2000}{number}\n" for number in range(1000))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    folder = tmp_path_factory.mktemp("files")
    yield from sharing(folder, SCENARIO, init(folder))


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    neovim, folder = resting
    clear(neovim)
    for path in folder.glob("*.txt"):
        path.unlink()
    (folder / "here.txt").write_text("one\ntwo\n")
    neovim.open(folder / "here.txt")
    return neovim


def open_name(neovim: Neovim) -> str:
    return Path(neovim.lua("return vim.api.nvim_buf_get_name(0)")).name


def test_a_file_that_is_to_go(neovim: Neovim, folder: Path) -> None:
    neovim.keys(":Tark delete here.txt<CR>")
    drawn(neovim, "T: Tark deletes this file (+0 -2)", "- one", "- two")
    assert neovim.lua("return vim.fn.winsaveview().topfill") == 1
    neovim.keys(":TarkReject<CR>")
    drawn(neovim)

    neovim.keys(":Tark delete here.txt<CR>")
    drawn(neovim, "T: Tark deletes this file (+0 -2)", "- one", "- two")
    neovim.keys("Gothree<Esc>")  # it is not the file that was to go any more
    drawn(neovim, "T: Tark deletes this file (+0 -2)", "! one", "! two")
    neovim.keys(":TarkAccept<CR>")
    told(neovim, "not accepted: ")
    assert (folder / "here.txt").exists()
    neovim.keys(":TarkReject<CR>")
    drawn(neovim)
    neovim.keys(":w<CR>:Tark delete here.txt<CR>")
    drawn(neovim, "T: Tark deletes this file (+0 -3)", "- one", "- two", "- three")
    neovim.keys(":TarkAccept<CR>")
    neovim.until(lambda: not (folder / "here.txt").exists(), "the file is gone")
    neovim.until(lambda: changes(neovim) == [], "nothing left to see of it")
    unhurt(neovim)


def test_a_file_that_is_to_be_moved(neovim: Neovim, folder: Path) -> None:
    neovim.keys(":Tark move here.txt to there.txt<CR>")
    drawn(neovim, "T: Tark moves this file to there.txt")
    neovim.keys("Go<Esc>u:TarkAccept<CR>")
    neovim.until(lambda: (folder / "there.txt").exists(), "the file is moved")
    neovim.until(lambda: open_name(neovim) == "there.txt", "the buffer with it")
    drawn(neovim)
    waiting = "return #require('tark.review.hunks').undecided()"
    neovim.until(lambda: neovim.lua(waiting) == 0, "nothing waits under the old name")
    assert neovim.lines == ["one", "two"]
    unhurt(neovim)


def test_a_file_that_is_to_be_made(neovim: Neovim) -> None:
    neovim.keys(":Tark write new.txt<CR>")
    neovim.until(lambda: "new.txt" in str(neovim.lua("return require('tark.review.hunks').undecided()")), "a hunk")
    assert changes(neovim) == []
    neovim.keys(":TarkAccept<CR>")
    told(neovim, "no change in this file, but 1 change in 1 file")
    neovim.lua("require('tark').next_hunk()")
    assert open_name(neovim) == "new.txt"
    neovim.until(lambda: picture(neovim) == ["- ", "+: one", "+: two"], "its lines")
    neovim.keys(":TarkAccept<CR>")
    neovim.until(lambda: neovim.lines == ["one", "two"], "they are in the buffer")
    drawn(neovim)
    unhurt(neovim)


def test_long_lines_and_many(neovim: Neovim, folder: Path) -> None:
    (folder / "long.txt").write_text(LONG + "last\n")
    neovim.keys(":edit long.txt<CR>")
    neovim.keys(":Tark shorten long.txt<CR>")
    neovim.until(lambda: len(changes(neovim)) > 1, "a hunk, in several lines, since it is wider than the window")
    pieces = [line.removeprefix("+: ").removeprefix(" : ") for line in changes(neovim)]
    assert "".join(pieces) == f"{'y' * 500}…"
    assert max(len(piece) for piece in pieces) < 120
    neovim.keys("G:TarkAccept<CR>")
    neovim.until(lambda: "longer than what is shown" in neovim.messages(), "it was not seen yet")
    assert f"+{'y' * 5000}" in neovim.lines
    neovim.keys("q:TarkAccept<CR>")
    neovim.until(lambda: neovim.lines[-1] == "y" * 5000, "the whole line")
    assert neovim.lines[:-2] == LONG.splitlines()
