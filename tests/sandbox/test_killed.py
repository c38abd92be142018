"""After kill -9 of the process that runs commands, no command goes on, and the next one removes the covers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tark_lsp.sandbox import JOURNAL
from tark_lsp.sandbox.covers import Journal
from tark_lsp.sandbox.sandbox import Sandbox
from tark_lsp.trust_report.attempts.driver import left_behind
from tark_lsp.workspace.processes import run_process
from tests.patience import AT_ONCE
from tests.sandbox.conftest import PATH

SERVER = """
import asyncio, sys
from pathlib import Path
from tests.sandbox.conftest import PATH, make_sandbox

async def main(root):
    sandbox = make_sandbox(root)
    line = "(setsid sleep 600 &) ; echo started; sleep 600"
    async with sandbox.run(("/bin/bash", "-c", line), root / "workspace", PATH) as run:
        await (await asyncio.create_subprocess_exec(*run.argv)).wait()

asyncio.run(main(Path(sys.argv[1])))
"""

pytestmark = pytest.mark.slow


def start_and_kill(root: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(root)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"started\n"
        server.kill()
        # Every process of the command holds the pipe: it ends when none of them is left.
        os.set_blocking(server.stdout.fileno(), True)
        assert server.communicate(timeout=AT_ONCE)[0] == b""
    finally:
        server.kill()
        server.wait()


def test_a_killed_server(root: Path) -> None:
    workspace = root / "workspace"
    start_and_kill(root)
    assert (workspace / ".git").is_dir()
    (workspace / ".vscode" / "settings.json").write_text("{}")  # by the user, meanwhile
    recovery = Journal(root / "state" / JOURNAL).recover()
    assert workspace / ".git" in recovery.removed
    assert [path.name for path in workspace.iterdir()] == [".vscode"]
    assert [entry.workspace for entry in recovery.unfinished] == [(workspace,)]
    assert Journal(root / "state" / JOURNAL).recover().removed == ()


def test_a_cover_with_something_in_it_stays(root: Path) -> None:
    workspace = root / "workspace"
    with Journal(root / "journal").run([workspace], []):
        (workspace / ".git" / "config").write_text("x")
    assert (workspace / ".git" / "config").exists()
    assert [path.name for path in workspace.iterdir()] == [".git"]


def test_a_journal_that_cannot_be_read_is_kept_and_stops_nothing(root: Path) -> None:
    folder = root / "journal"
    folder.mkdir()
    (folder / "broken.json").write_text("[1")
    (folder / "other.json").write_text(json.dumps({"process": 1}))
    assert Journal(folder).recover().removed == ()
    assert sorted(path.name for path in folder.iterdir()) == ["broken.unreadable", "other.unreadable"]


def test_the_covers_of_a_run_that_goes_on_stay(root: Path) -> None:
    workspace, journal = root / "workspace", Journal(root / "journal")
    with journal.run([workspace], []):
        assert journal.recover().removed == ()
        assert (workspace / ".git").is_dir()
    assert list(workspace.iterdir()) == []


async def test_a_command_that_is_ended_early_leaves_no_process(sandbox: Sandbox, root: Path) -> None:
    """As workspace/processes.py runs and ends commands."""
    token = root.name + "-token"
    program = f"import time; print('started', flush=True); time.sleep(600)  # {token}"
    line = f'(setsid /usr/bin/python3 -c "{program}" &) ; sleep 600'
    async with sandbox.run(("/bin/bash", "-c", line), root / "workspace", PATH) as run:
        await run_process(run.argv, cwd=run.cwd, env=run.env, on_stdout=lambda data: b"started" not in data)
    assert run.findings.is_clean
    assert left_behind(token) == []
