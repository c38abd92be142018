"""`tark-lsp index`: in a folder that is not trusted, without a server, and beside a running one."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import environment, without_terminal
from tests.server.indexing.test_processes import wait_until
from tests.server.raw import RawServer, python

pytestmark = pytest.mark.slow  # each test starts programs


class Folder:
    """A project in a home folder of its own."""

    def __init__(self, root: Path) -> None:
        self.path = root / "project"
        self.path.mkdir()
        (self.path / "a.py").write_text("class Shape:\n    def area(self):\n        return 1\n")
        (self.path / "b.bin").write_bytes(b"\0" * 100)
        self.environment = environment(root)

    def run(self, *arguments: str, fresh: bool = False) -> tuple[int, str]:
        done = without_terminal(arguments, self.path, self.environment, fresh=fresh)
        return done.returncode, done.stdout + done.stderr

    def status(self) -> dict[str, Any]:
        return dict(json.loads(self.run("index", "status", "--json")[1]))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path.resolve())


def test_a_folder_that_is_not_trusted_says_what_to_do(folder: Folder) -> None:
    code, said = folder.run("index", fresh=True)
    assert code == 1
    assert "off: this workspace is not trusted: run `tark-lsp permissions trust` in it" in said
    code, said = folder.run("index", "rebuild")
    assert (code, "is not built: this workspace is not trusted" in said) == (1, True)
    assert folder.run("index", "clear") == (0, "there is no index to remove\n")
    assert folder.status()["state"] == "off"
    assert folder.run("index", "forget")[0] == 2


def test_a_broken_setting_builds_nothing(folder: Folder) -> None:
    (folder.path / ".tark").mkdir()
    (folder.path / ".tark" / "config.toml").write_text("index = [broken")
    assert folder.run("permissions", "trust")[0] == 0
    code, said = folder.run("index", "rebuild")
    assert (code, "nothing was started" in said) == (1, True)


def test_without_a_server_it_is_built_shown_and_removed(folder: Folder) -> None:
    assert folder.run("permissions", "trust")[0] == 0
    code, said = folder.run("index", "status")
    assert (code, "nothing is stored yet" in said) == (1, True)
    code, said = folder.run("index", "rebuild", fresh=True)
    assert code == 0, said
    rows = dict(line.split(":", 1) for line in said.splitlines())
    assert rows["state"].strip() == "ready"
    assert rows["files"].strip() == "2 of 2 are done (100%)"
    assert rows["search"].strip() == "lexical only"
    status = folder.status()
    assert (status["state"], status["share"], status["definitions"], status["process"]) == ("ready", 1.0, 2, None)
    assert status["skipped"] == {"binary": 1}
    assert f"{status['place']}" in rows["on disk"]
    code, said = folder.run("index", "clear")
    assert (code, said.startswith("removed: ")) == (0, True)
    assert not Path(status["place"]).exists()
    assert folder.run("index", "rebuild")[0] == 0
    assert folder.run("index", "clear", "--all")[1].endswith(" of 1 folder\n")
    (folder.path / ".tark").mkdir()
    (folder.path / ".tark" / "config.toml").write_text("[index]\nenabled = false\n")
    assert "index.enabled is false" in folder.status()["reason"]


def test_a_link_in_the_place_of_the_index(folder: Folder, tmp_path: Path) -> None:
    place, other = Path(folder.status()["place"]), tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    for option in ([], ["--all"]):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(other)
        assert folder.run("index", "clear", *option)[0] == 0
        assert not place.is_symlink()
        assert [path.name for path in other.iterdir()] == ["kept"], "only the link is removed"


def test_beside_a_running_server(folder: Folder) -> None:
    folder.run("permissions", "trust")
    with RawServer(python("tark_lsp"), env={**os.environ, **folder.environment}) as server:
        server.initialize(rootUri=folder.path.as_uri())
        server.call("workspace/executeCommand", {"command": "tark.session.new", "arguments": [{}]})
        status = wait_until(lambda: (found := folder.status())["state"] == "ready" and found)
        assert status["process"] is not None
        code, said = folder.run("index", "clear")
        assert (code, f"process {status['process']} has the index open" in said) == (1, True)
        stored = Path(status["place"]) / "files.sqlite3"
        before = stored.stat()
        code, said = folder.run("index", "rebuild")
        assert (code, "which has the index open, builds it again" in said) == (0, True)
        wait_until(lambda: not is_same(stored, before))
        again = wait_until(lambda: (found := folder.status())["state"] == "ready" and found)
        assert (again["process"], again["files"]) == (status["process"], 2)


def test_a_damaged_index_is_said(folder: Folder) -> None:
    folder.run("permissions", "trust")
    assert folder.run("index", "rebuild")[0] == 0
    place = Path(folder.status()["place"])
    (place / "files.sqlite3").write_bytes(b"x" * 5000)
    code, said = folder.run("index")
    assert (code, "failed: the stored index cannot be read" in said) == (1, True)
    assert ("`tark-lsp index rebuild` rebuilds it" in said, "definitions" in said) == (True, False)
    assert folder.run("index", "rebuild")[0] == 0


def is_same(path: Path, before: os.stat_result) -> bool:
    """Whether it is the file that it was: a new one can have its number, but not its time."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return False
    return (now.st_ino, now.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)
