"""Edits in memory (`inMemory`): reads and searches see them, nothing is written, and `tark.patch` has them all."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.desk import Desk

SCENARIO = """\
wire = "openai-chat"

[[reply]]
tool = "search_text"
text = "That is all."

[[reply]]
tool = "edit_file"
calls = [
    { name = "read_file", arguments = { path = "a.py" } },
    { name = "read_file", arguments = { path = "gone.txt" } },
    { name = "find_files", arguments = { pattern = "*" } },
    { name = "list_directory", arguments = { path = "." } },
    { name = "search_text", arguments = { pattern = "answer" } },
]

[[reply]]
when = 'all at once'
calls = [
    { name = "edit_file", arguments = { path = "a.py", old_text = "1", new_text = "answer" } },
    { name = "write_file", arguments = { path = "new/b.py", content = "answer" } },
    { name = "write_file", arguments = { path = "new/__init__.py", content = "" } },
    { name = "delete_file", arguments = { path = "gone.txt" } },
    { name = "move_file", arguments = { source = "c.py", target = "d.py" } },
    { name = "write_file", arguments = { path = ".git/hooks/x", content = "x" } },
    { name = "run_command", arguments = { command = "touch ran" } },
]
"""


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path, monkeypatch, tark=("updates", "permission", "input", "inMemory"))
    (tmp_path / "home" / "scenario.toml").write_text(SCENARIO)
    for name in ("a.py", "c.py", "gone.txt"):
        (desk.folder / name).write_text("1\r\n")
    yield desk
    await desk.stop()


async def test_edits_stay_in_memory(desk: Desk) -> None:
    asked: list[Any] = []

    def refuse(request: Any) -> dict[str, str]:
        asked.append(request)
        return {"outcome": "reject"}

    desk.connection.answers["tark/requestPermission"] = refuse
    before = {path: path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()}
    turn = await desk.start("all at once")
    end = await desk.end(turn)
    assert end["text"] == "That is all."
    assert ["is a protected path" in request["why"] for request in asked] == [True]
    over = [
        update for update in desk.updates(turn, "toolCall") if update["status"] in ("completed", "failed", "rejected")
    ]
    said = {f"{update['toolCallId']}": "".join(part.get("text", "") for part in update["content"]) for update in over}
    texts = "\n".join(said.values())
    assert "files are not changed here" in texts
    assert "gone.txt: no such file" in texts
    assert "a.py:1: answer" in texts
    assert "new/b.py:1: answer" in texts
    assert "new/b.py\nnew/__init__.py" in texts or "new/__init__.py\nnew/b.py" in texts
    assert "d.py" in texts
    assert {path: path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()} == before
    patch = (await desk.command("tark.patch", {}))["patch"]
    subprocess.run(["git", "apply"], cwd=desk.folder, input=patch.encode(), check=True)  # noqa: ASYNC221  # nothing else runs
    after = {
        path.relative_to(desk.folder).as_posix(): path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()
    }
    assert after == {"a.py": b"answer\r\n", "d.py": b"1\r\n", "new/b.py": b"answer", "new/__init__.py": b""}
    assert not (desk.folder.parent / "home" / "state" / "tark" / "checkpoints.sqlite3").exists()


async def test_without_it_there_is_no_patch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, monkeypatch)
    assert await desk.command("tark.patch", {}) == {"patch": ""}
    await desk.stop()
