"""Review in place, which is the default: edits are applied at once, and their hunks wait whatever is saved."""

from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.pictures import changes, drawn, hints, init
from tests.editors.neovim.plugin.turns import ended, told, unhurt
from tests.editors.neovim.plugin.waiting import asks, go, gone
from tests.editors.shapes import AREA, CUBE, FACES, NEW_AREA, NEW_CUBE, NEW_FACES, NEW_VOLUME, SHAPES, SOLIDS, VOLUME

pytestmark = pytest.mark.editor

SCENARIO = Path(__file__).with_name("review.toml")
COMMANDS = Path(__file__).with_name("permission.toml")
AREA_HUNK = [f"-: {AREA.rstrip()}", f"+ {NEW_AREA.rstrip()}"]
VOLUME_HUNK = [f"-: {VOLUME.rstrip()}", f"+ {NEW_VOLUME.rstrip()}"]
EDITED = SHAPES.replace(AREA, NEW_AREA).replace(VOLUME, NEW_VOLUME)
SETTLED = """
    local done = false
    local client = require('tark.server.clients').for_buffer()
    require('tark.server.requests').send_command(client, 'tark.hunk.list', nil, function() done = true end)
    return vim.wait(5000, function() return done end)
"""
"""The server has read all that was sent before, and the plugin what it answered."""


def edited(start: Start, workspace: Path, tmp_path: Path) -> Neovim:
    (workspace / "shapes.py").write_text(SHAPES)
    (workspace / "solids.py").write_text(SOLIDS)
    neovim = start(SCENARIO, init(tmp_path), review="")
    neovim.open(workspace / "shapes.py")
    neovim.keys(":Tark tidy both files<CR>")
    drawn(neovim, *AREA_HUNK, *VOLUME_HUNK)
    return neovim


def save(neovim: Neovim, keys: str = ":write<CR>") -> None:
    neovim.keys(keys)
    neovim.until(lambda: not neovim.lua("return vim.bo.modified"), "it is saved")
    assert neovim.lua(SETTLED)


def test_hunks_wait_until_they_are_kept_or_undone(start: Start, workspace: Path, tmp_path: Path) -> None:
    neovim = edited(start, workspace, tmp_path)
    ended(neovim, 1)  # without a question
    path = workspace / "shapes.py"
    neovim.until(lambda: path.read_text() == EDITED, "it was saved, and is saved again")
    assert hints(neovim)[0] == "7  +1 -1  :TarkAccept keep  :TarkReject undo"
    assert any(title.startswith("Keep (+1 -1)") for title in neovim.action_titles(7, 7))
    assert any(title.startswith("Undo (+1 -1)") for title in neovim.action_titles(7, 7))
    for keys in (":write<CR>", "ggO# mine<Esc>:write<CR>", ":update<CR>", ":wall<CR>"):
        save(neovim, keys)
        assert changes(neovim) == [*AREA_HUNK, *VOLUME_HUNK]
    assert path.read_text() == f"# mine\n{EDITED}"

    neovim.keys("8G:TarkAccept<CR>")
    told(neovim, "kept 1 change")
    drawn(neovim, *VOLUME_HUNK)
    neovim.keys("18G:TarkReject<CR>")
    told(neovim, "undone 1 change")
    drawn(neovim)
    assert "".join(f"{line}\n" for line in neovim.lines) == f"# mine\n{SHAPES.replace(AREA, NEW_AREA)}"

    neovim.close()
    neovim = start(SCENARIO, init(tmp_path), review="")
    neovim.keys(":edit shapes.py<CR>:TarkReview<CR>")  # the server starts, and restores what it knows
    told(neovim, "starting the server")
    neovim.until(lambda: neovim.lua("return vim.bo.buftype") == "quickfix", "the list")
    assert neovim.lua("return vim.fn.getqflist({ title = 1 }).title") == "Tark: 2 changes in 1 file"
    neovim.keys(":cclose<CR>")

    neovim.keys(":edit solids.py<CR>")  # was closed, and is changed on disk
    assert (workspace / "solids.py").read_text() == SOLIDS.replace(CUBE, NEW_CUBE).replace(FACES, NEW_FACES)
    drawn(neovim, f"-: {CUBE.rstrip()}", f"+ {NEW_CUBE.rstrip()}", f"-: {FACES.rstrip()}", f"+ {NEW_FACES.rstrip()}")
    neovim.keys(":TarkReject!<CR>")
    told(neovim, "undone 2 changes")
    neovim.until(lambda: (workspace / "solids.py").read_text() == SOLIDS, "all of it is undone")
    unhurt(neovim)


def test_what_a_formatter_changes_on_save_is_part_of_the_hunk(start: Start, workspace: Path, tmp_path: Path) -> None:
    """One formatter comes before the notification of the save, and changes only the format; one comes after it."""
    neovim = edited(start, workspace, tmp_path)
    neovim.lua("vim.cmd([[autocmd BufWritePre <buffer> silent! %s/tau \\/ 2\\ze \\*/tau * 0.5/e]])")
    save(neovim)
    formatted = NEW_AREA.replace("tau / 2", "tau * 0.5")
    assert neovim.lines[6] == formatted.rstrip()
    drawn(neovim, f"-: {AREA.rstrip()}", f"+ {formatted.rstrip()}", *VOLUME_HUNK)
    neovim.keys(":%s/\\*\\*3/ ** 3/<CR>")  # typed over
    neovim.until(lambda: any(line.startswith("! ") for line in changes(neovim)), "the user changed it")
    save(neovim)  # but it says the same
    spaced = NEW_VOLUME.replace("**3", " ** 3")
    drawn(neovim, f"-: {AREA.rstrip()}", f"+ {formatted.rstrip()}", f"-: {VOLUME.rstrip()}", f"+ {spaced.rstrip()}")
    neovim.keys(":TarkReject!<CR>")
    neovim.until(lambda: "".join(f"{line}\n" for line in neovim.lines) == SHAPES, "all of it is undone")
    unhurt(neovim)


@pytest.mark.parametrize(("key", "text"), [("w", "typed\n"), ("a", "disk\n")])
def test_a_command_with_unsaved_files(start: Start, workspace: Path, tmp_path: Path, key: str, text: str) -> None:
    """One question, which can save first."""
    path = workspace / "a.py"
    path.write_text("disk\n")
    neovim = start(COMMANDS, init(tmp_path), review="")
    neovim.open(path)
    neovim.keys("cctyped<Esc>")
    neovim.keys(":Tark make made.txt<CR>")
    asks(neovim, "echo made > made.txt")
    there = go(neovim)
    assert "asked because it runs a command without a sandbox, and a.py is not saved" in there.text
    assert "w save and run" in there.text
    assert "a run anyway" in there.text
    go(neovim)
    neovim.keys(key)
    ended(neovim, 1)
    assert (workspace / "made.txt").exists()
    assert path.read_text() == text
    gone(neovim)
    unhurt(neovim)
