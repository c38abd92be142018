"""Real Neovim, no plugin: it renames and deletes the files of its buffers itself, and undo brings them back."""

from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.driver import Neovim

pytestmark = pytest.mark.editor

SCENARIO = Path(__file__).parent.parent / "files.toml"
TEXT = "one\ntwo\n"
COMMANDED = """
    local name, argument = ...
    local client = vim.lsp.get_clients({ name = 'tark' })[1]
    local params = { command = name, arguments = { argument } }
    return client:request_sync('workspace/executeCommand', params, 10000, 0).result
"""
LOADED = """
    local names = {}
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_is_loaded(buffer) then
        names[vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':t')] = vim.bo[buffer].modified
      end
    end
    return names
"""
REVIEW = 1  # Review, Reject, and after Review also Apply


@pytest.fixture
def opened(neovim: Neovim, tmp_path: Path) -> Neovim:
    """Opens a file. The server, which starts with it, plays the scenario of files."""
    (tmp_path / "home/config/tark/config.toml").write_text(
        f"model = \"scripted/files\"\n[providers.scripted]\nscenario = '{SCENARIO}'\n"
    )
    path = tmp_path / "workspace" / "a.py"
    path.write_text(TEXT)
    path.chmod(0o751)
    neovim.open(path)
    return neovim


def run(neovim: Neovim, name: str, **argument: Any) -> Any:
    return neovim.lua(COMMANDED, name, argument)


def on_disk(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "workspace"
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.py")}


def turn(neovim: Neovim, prompt: str) -> str:
    """Asks for the change, reviews it, and applies it."""
    turn_id = str(run(neovim, "tark.turn.start", prompt=prompt)["turnId"])
    neovim.choose(REVIEW)
    neovim.choose(3)
    neovim.until(lambda: neovim.idle, "the end of the turn")
    return turn_id


def test_a_buffer_is_renamed_with_its_file(opened: Neovim, tmp_path: Path) -> None:
    turn_id = turn(opened, "move a.py to in/b.py")
    assert on_disk(tmp_path) == {"in/b.py": TEXT}
    loaded = opened.lua(LOADED)
    assert loaded["b.py"] is False
    assert "a.py" not in loaded
    assert run(opened, "tark.turn.undo", turnId=turn_id)["kept"] == []
    assert on_disk(tmp_path) == {"a.py": TEXT}
    assert (tmp_path / "workspace/a.py").stat().st_mode & 0o777 == 0o751
    assert "b.py" not in opened.lua(LOADED)


def test_a_buffer_is_deleted_with_its_file(opened: Neovim, tmp_path: Path) -> None:
    turn_id = turn(opened, "delete a.py")
    assert on_disk(tmp_path) == {}
    assert "a.py" not in opened.lua(LOADED)
    assert run(opened, "tark.turn.undo", turnId=turn_id)["kept"] == []
    assert on_disk(tmp_path) == {"a.py": TEXT}


def test_a_patch_moves_and_changes_buffers(opened: Neovim, tmp_path: Path) -> None:
    """Open files get the new text as unsaved changes, at their new paths."""
    folder = tmp_path / "workspace"
    for name in ("one.py", "two.py", "three.py", "four.py"):
        (folder / name).write_text(TEXT)
    opened.open(folder / "two.py")
    before = on_disk(tmp_path)
    turn_id = turn(opened, "patch one.py, move two.py, delete three.py and change four.py")
    changed = "ONE\ntwo\n"
    assert on_disk(tmp_path) == {"a.py": TEXT, "one.py": changed, "in/two.py": TEXT, "four.py": changed}
    assert opened.lines == changed.splitlines()
    assert opened.lua(LOADED)["two.py"] is True
    assert run(opened, "tark.turn.undo", turnId=turn_id)["kept"] == []
    assert on_disk(tmp_path) == before
    assert opened.lines == TEXT.splitlines()
