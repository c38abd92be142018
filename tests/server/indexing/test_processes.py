"""The index process of a real server: there is one only after trust, and none is left, however the server ends."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.patience import AT_ONCE
from tests.server.raw import RawServer, python

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks for processes in /proc"),
]


def index_processes(server: int) -> list[int]:
    """The index processes that this server has started and that run."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue  # it has ended
        if parent == server and b"tark_lsp.index.process" in command:
            found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], Any]) -> Any:
    until = time.monotonic() + AT_ONCE
    while not (value := condition()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return value


def is_gone(process: int) -> bool:
    """Also if nobody has collected it yet."""
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class IndexedServer:
    """A server on a folder with one file. `trusted`: as VS Code reports it."""

    def __init__(self, root: Path, *, trusted: bool) -> None:
        self.folder = root / "workspace"
        self.folder.mkdir()
        (self.folder / "a.py").write_text("def area(): ...\n")
        homes = {f"XDG_{name}_HOME": str(root / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
        self.raw = RawServer(python("tark_lsp"), cwd=root, env=homes)
        self._trusted = trusted

    def __enter__(self) -> "IndexedServer":
        self.raw.__enter__()
        tark = {"protocol": 1, "userSettings": True, "updates": True}
        self.raw.initialize(
            rootUri=self.folder.as_uri(),
            initializationOptions={"workspaceTrusted": self._trusted},
            capabilities={
                "experimental": {"tark": tark},
                "window": {"workDoneProgress": True},
                "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}},
            },
        )
        return self

    def __exit__(self, *error: object) -> None:
        self.raw.__exit__(*error)

    def command(self, name: str) -> Any:
        return self.raw.call("workspace/executeCommand", {"command": name, "arguments": [{}]})["result"]

    def start_index(self) -> int:
        """Begin a session, as a chat does that opens. Returns the index process, once all is indexed."""
        self.command("tark.session.new")
        wait_until(lambda: self.command("tark.index.status")["state"] == "ready")
        (process,) = index_processes(self.raw.process.pid)
        return process


def test_a_short_build_says_nothing_and_shutdown_leaves_no_process(tmp_path: Path) -> None:
    with IndexedServer(tmp_path, trusted=True) as server:
        assert index_processes(server.raw.process.pid) == [], "nothing has needed it"
        process = server.start_index()
        assert server.raw.call("shutdown")["result"] is None
        assert is_gone(process), "before shutdown is answered"
        server.raw.notify("exit")
        assert server.raw.wait() == 0
        methods = {message["method"] for message in server.raw.others if "method" in message}
        assert methods == {"tark/session", "client/registerCapability"}, "no progress and no message"
    stored = tmp_path / "cache" / "tark" / "index"
    private = [stored, *stored.rglob("*")]
    assert {path.stat().st_mode & 0o077 for path in private} == {0}


def test_no_process_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    with IndexedServer(tmp_path, trusted=True) as server:
        process = server.start_index()
        server.raw.process.kill()
        wait_until(lambda: is_gone(process))


def test_an_index_process_that_is_killed_is_replaced(tmp_path: Path) -> None:
    with IndexedServer(tmp_path, trusted=True) as server:
        process = server.start_index()
        os.kill(process, signal.SIGKILL)
        (other,) = wait_until(lambda: [*{*index_processes(server.raw.process.pid)} - {process}])
        wait_until(lambda: server.command("tark.index.status")["state"] == "ready")
        assert not is_gone(other)


def test_an_untrusted_workspace_never_gets_a_process(tmp_path: Path) -> None:
    with IndexedServer(tmp_path, trusted=False) as server:
        server.command("tark.session.new")
        server.raw.notify("textDocument/didOpen", chat(server.folder))
        assert "trust it in your editor" in server.command("tark.index.status")["reason"]
        assert (
            "not trusted"
            in server.raw.call("workspace/executeCommand", {"command": "tark.index.rebuild", "arguments": [{}]})[
                "error"
            ]["message"]
        )
        assert index_processes(server.raw.process.pid) == []
    assert not (tmp_path / "cache").exists()


def chat(folder: Path) -> dict[str, Any]:
    uri = (folder / "talk.tark.md").as_uri()
    return {"textDocument": {"uri": uri, "languageId": "markdown", "version": 1, "text": "# Chat\n"}}
