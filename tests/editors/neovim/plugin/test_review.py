"""Hunks in a buffer of a real Neovim with the plugin: drawn, visited, decided one by one and all at once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import sharing
from tests.editors.neovim.plugin.pictures import changes, drawn, hints, init, picture
from tests.editors.neovim.plugin.rest import clear
from tests.editors.neovim.plugin.turns import told, unhurt
from tests.editors.neovim.plugin.waiting import waiting
from tests.editors.shapes import AREA, CUBE, FACES, NEW_AREA, NEW_CUBE, NEW_FACES, NEW_VOLUME, SHAPES, SOLIDS, VOLUME

pytestmark = pytest.mark.editor

SCENARIO = Path(__file__).with_name("review.toml")
AREA_HUNK = [f"- {AREA.rstrip()}", f"+: {NEW_AREA.rstrip()}"]
VOLUME_HUNK = [f"- {VOLUME.rstrip()}", f"+: {NEW_VOLUME.rstrip()}"]
CUBE_HUNK = [f"- {CUBE.rstrip()}", f"+: {NEW_CUBE.rstrip()}"]
FACES_HUNK = [f"- {FACES.rstrip()}", f"+: {NEW_FACES.rstrip()}"]
ROUND = "first\nkeep\nkeep\nkeep\nkeep\ngone\nkeep\nkeep\nkeep\nkeep\n\ttab\nkeep\nkeep\nkeep\nkeep\nlast\n"
SIGNS = """
    local found = {}
    local namespace = vim.api.nvim_create_namespace('tark_review')
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
      if mark[4].sign_text then
        table.insert(found, { mark[2] + 1, mark[4].sign_text })
      end
    end
    return found
"""
LIST = """
    local list = vim.fn.getqflist({ items = 1, title = 1 })
    local found = { list.title }
    for _, item in ipairs(list.items) do
      local name = vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr))
      table.insert(found, ('%s:%d %s'):format(name, item.lnum, item.text))
    end
    return found
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    folder = tmp_path_factory.mktemp("review")
    yield from sharing(folder, SCENARIO, init(folder))


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    clear(resting[0])
    return resting[0]


@pytest.fixture
def reviewing(neovim: Neovim, folder: Path) -> Neovim:
    """Two files with two hunks each, of which one is open."""
    (folder / "shapes.py").write_text(SHAPES)
    (folder / "solids.py").write_text(SOLIDS)
    neovim.open(folder / "shapes.py")
    neovim.keys(":Tark tidy both files<CR>")
    drawn(neovim, *AREA_HUNK, *VOLUME_HUNK)
    return neovim


def text(neovim: Neovim) -> str:
    return "".join(f"{line}\n" for line in neovim.lines)


def shows(neovim: Neovim, expected: str) -> None:
    neovim.until(lambda: text(neovim) == expected, f"{expected!r}, not {text(neovim)!r}")


def line(neovim: Neovim) -> int:
    return int(neovim.lua("return vim.fn.line('.')"))


def at(neovim: Neovim, number: int) -> None:
    neovim.until(lambda: line(neovim) == number, f"the cursor in line {number}")


def test_accept_reject_edit_undo(reviewing: Neovim) -> None:
    neovim = reviewing
    assert hints(neovim)[0] == "7  +1 -1  :TarkAccept  :TarkReject"
    assert neovim.lua("return vim.diagnostic.get()") == []
    assert any(title.startswith("Accept (+1 -1)") for title in neovim.action_titles(7, 7))

    neovim.keys("7G:TarkAccept<CR>")
    drawn(neovim, *VOLUME_HUNK)
    shows(neovim, SHAPES.replace(AREA, NEW_AREA))
    told(neovim, "accepted 1 change")  # what is undone before that is not accepted, and shown again after redo
    neovim.keys("u")
    shows(neovim, SHAPES)
    neovim.keys("<C-r>")
    shows(neovim, SHAPES.replace(AREA, NEW_AREA))
    drawn(neovim, *VOLUME_HUNK)

    neovim.keys("gg:2TarkReject<CR>")
    told(neovim, "no change here, the nearest is in line 17")
    neovim.lua("require('tark').next_hunk()")
    at(neovim, 17)
    neovim.keys("gg:TarkReject<CR>")  # the only one, and in sight
    drawn(neovim)
    shows(neovim, SHAPES.replace(AREA, NEW_AREA))

    neovim.lua("require('tark').next_hunk()")  # on to the other file
    shows(neovim, SOLIDS)
    drawn(neovim, *CUBE_HUNK, *FACES_HUNK)
    at(neovim, 2)
    neovim.lua("require('tark').hunk_edit()")
    shows(neovim, NEW_CUBE)
    assert neovim.lua("return vim.bo.filetype") == "python"
    neovim.keys("A  # a cube<Esc>:wq<CR>")
    drawn(neovim, CUBE_HUNK[0], f"{CUBE_HUNK[1]}  # a cube", *FACES_HUNK)
    neovim.keys(":TarkAccept<CR>")
    drawn(neovim, *FACES_HUNK)
    shows(neovim, SOLIDS.replace(CUBE, f"{NEW_CUBE.rstrip()}  # a cube\n"))

    neovim.lua("require('tark').next_hunk()")
    at(neovim, 12)
    neovim.lua("require('tark').hunk_regenerate({ prompt = 'the other way round' })")
    neovim.until(lambda: changes(neovim)[1:] == ["+:     return 6 * (side * side)"], "the change written anew")
    neovim.keys(":TarkReject<CR>")
    drawn(neovim)
    neovim.keys(":TarkReview<CR>")
    told(neovim, "nothing to review")


def test_the_list_of_all_files_leads_to_each_and_follows(reviewing: Neovim) -> None:
    neovim = reviewing
    neovim.keys(":TarkReview<CR>")
    area, volume, cube, faces = (
        f"shapes.py:7 +1 -1 {NEW_AREA.strip()}",
        f"shapes.py:17 +1 -1 {NEW_VOLUME.strip()}",
        f"solids.py:2 +1 -1 {NEW_CUBE.strip()}",
        f"solids.py:12 +1 -1 {NEW_FACES.strip()}",
    )
    neovim.until(lambda: neovim.lua(LIST)[0] == "Tark: 4 changes in 2 files", "the list")
    assert neovim.lua(LIST)[1:] == [area, volume, cube, faces]

    neovim.keys("4G<CR>")  # a file that is not open yet
    drawn(neovim, *CUBE_HUNK, *FACES_HUNK)
    at(neovim, 12)
    neovim.keys("ggOa line above<Esc>12G")
    drawn(neovim, *CUBE_HUNK, *FACES_HUNK)
    neovim.keys(":2TarkReject<CR>")
    told(neovim, "the nearest is in line 3")
    neovim.keys(":3TarkReject<CR>")
    drawn(neovim, *FACES_HUNK)
    left = ["Tark: 3 changes in 2 files", area, volume, faces.replace(":12", ":13")]
    neovim.until(lambda: neovim.lua(LIST) == left, f"{left}")

    neovim.keys("uG:colder<CR>:copen<CR>")
    neovim.keys(":TarkReject!<CR>")
    neovim.until(lambda: neovim.lua(LIST)[0] == "Tark: 0 changes in 0 files", "an empty list")
    unhurt(neovim)


def test_accept_all_shows_first_what_is_not_open(reviewing: Neovim, folder: Path) -> None:
    neovim = reviewing
    # Its window shows all of the diff, so nothing is hidden while it waits. It can come after the hunks.
    neovim.until(lambda: waiting(neovim) == 1, "the permission")
    neovim.lua("require('tark.state').all()[1].permissions = {}")
    neovim.keys(":TarkAccept!<CR>")
    told(neovim, "review the files that are not open yet (2 changes in 1 file)")
    diff = neovim.lines
    assert neovim.lua("return vim.bo.filetype") == "diff"
    assert diff[:2] == ["--- solids.py", "+++ solids.py"]
    assert [line for line in diff if line.startswith(("-  ", "+  "))] == [
        f"-{CUBE.rstrip()}",
        f"+{NEW_CUBE.rstrip()}",
        f"-{FACES.rstrip()}",
        f"+{NEW_FACES.rstrip()}",
    ]
    assert "@@ -1,5 +1,5 @@" in diff
    neovim.keys("q")
    shows(neovim, SHAPES)
    neovim.keys(":TarkAccept!<CR>")
    drawn(neovim)
    shows(neovim, SHAPES.replace(AREA, NEW_AREA).replace(VOLUME, NEW_VOLUME))
    solids = folder / "solids.py"
    both = SOLIDS.replace(CUBE, NEW_CUBE).replace(FACES, NEW_FACES)
    neovim.until(lambda: solids.read_text() == both, "the closed file written")
    neovim.until(lambda: "accepted 4 changes, nothing left to review" in neovim.messages(), "the message")


def test_walking_opens_folds_and_goes_from_file_to_file(reviewing: Neovim) -> None:
    neovim = reviewing
    neovim.lua("vim.wo.foldmethod = 'manual'")
    neovim.keys(":14,20fold<CR>gg")
    walk = "require('tark').next_hunk()"
    for expected in (7, 17):
        neovim.keys(":TarkNext<CR>")
        at(neovim, expected)
    assert neovim.lua("return vim.fn.foldclosed(17)") == -1
    neovim.keys("<C-o>")
    at(neovim, 7)
    neovim.keys("17G")
    at(neovim, 17)
    neovim.lua(walk)
    told(neovim, "the last change of this file; again: on to solids.py (2)")
    neovim.lua(walk)
    shows(neovim, SOLIDS)
    assert line(neovim) == 2
    neovim.keys(":TarkPrev<CR>")
    told(neovim, "the first change of this file; again: on to shapes.py (2)")
    neovim.lua("require('tark').prev_hunk()")
    shows(neovim, SHAPES)
    assert line(neovim) == 17
    neovim.keys("gg")
    neovim.lua("require('tark').next_hunk({ count = 2 })")
    assert line(neovim) == 17


def test_first_line_last_line_tabs_and_what_cannot_be_seen(neovim: Neovim, folder: Path) -> None:
    (folder / "round.txt").write_text(ROUND)
    neovim.open(folder / "round.txt")
    neovim.lua("vim.bo.tabstop = 4")
    neovim.keys(":Tark turn round.txt round<CR>")
    drawn(neovim, "+: before", "- gone", "+:     put in\\u{200b}", "+: after")
    assert picture(neovim)[:2] == ["+: before", "  first"]
    assert neovim.lua(SIGNS) == [[6, "- "]], "the lines around an added one are as they were"
    assert picture(neovim)[-2:] == ["  last", "+: after"]
    top = "return vim.fn.winsaveview().topfill"
    assert neovim.lua(top) == 1, "the line above the first one can be seen"
    neovim.keys("Ggg")
    neovim.until(lambda: neovim.lua(top) == 1, "it can still be seen")

    neovim.keys("G:TarkAccept<CR>")
    drawn(neovim, "+: before", "- gone", "+:     put in\\u{200b}")
    neovim.keys("1G:TarkAccept<CR>")
    drawn(neovim, "- gone", "+:     put in\\u{200b}")
    # No key between these two, and yet two steps of undo.
    neovim.lua("require('tark').accept({ range = { 7, 7 } })")
    drawn(neovim, "+:     put in\\u{200b}")
    neovim.lua("require('tark').accept({ range = { 11, 11 } })")
    drawn(neovim)
    without = "before\n" + ROUND.replace("gone\n", "") + "after\n"
    shows(neovim, without.replace("\ttab\n", "\ttab\n\tput\tin\u200b\n"))
    neovim.keys("u")
    shows(neovim, without)
    for _ in range(3):
        neovim.keys("u")
    shows(neovim, ROUND)


def test_what_is_accepted_moves_neither_cursor_nor_view(neovim: Neovim, folder: Path) -> None:
    lines = "".join(f"{number}\n" for number in range(1, 200))
    (folder / "round.txt").write_text(ROUND + lines + "")
    neovim.open(folder / "round.txt")
    neovim.keys(":Tark turn round.txt round<CR>")
    drawn(neovim, "+: before", "- gone", "+:         put     in\\u{200b}", "+: after")
    neovim.keys(":normal! 116Gzt10jl<CR>")
    seen = """
        local first, cursor = vim.fn.line('w0'), vim.fn.line('.')
        return { vim.fn.getline(first), vim.fn.getline(cursor), vim.fn.col('.') }
    """
    before = neovim.lua(seen)
    assert before == ["100", "110", 2]
    neovim.keys(":TarkAccept!<CR>")
    drawn(neovim)
    assert neovim.lua(seen) == before
    neovim.lua("vim.cmd.redraw()")
    assert neovim.lua(seen) == before
