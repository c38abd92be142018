"""A sandbox for a workspace of the test."""

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tark_lsp.sandbox.plan import Needs
from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.program import find_bubblewrap
from tark_lsp.sandbox.quarantine import Findings
from tark_lsp.sandbox.sandbox import Run, Sandbox


def missing() -> str:
    """Why no test of bubblewrap can run here; "" if they can. With CI set it must be installed."""
    program = find_bubblewrap([])
    if program is None:
        return "" if "CI" in os.environ else "bubblewrap is not installed"
    tried = subprocess.run([program, "--unshare-all", "--ro-bind", "/", "/", "true"], check=False, capture_output=True)
    refused = tried.stderr.decode(errors="replace").strip()
    return "" if tried.returncode == 0 else f"the kernel gives bubblewrap no namespaces: {refused}"


PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
MISSING = missing()
Shell = Callable[..., Awaitable[tuple[int, str, Findings]]]


def make_sandbox(root: Path, *folders: Path) -> Sandbox:
    home = root / "home"
    home.mkdir(exist_ok=True)
    return Sandbox(Places(home, root / "caches", root / "state"), folders or [root / "workspace"])


async def start(run: Run) -> tuple[int, str]:
    """The exit code and the output of both streams."""
    process = await asyncio.create_subprocess_exec(*run.argv, env=run.env, stdout=-1, stderr=-2, stdin=-3)
    output, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode()


async def run_in(
    sandbox: Sandbox,
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    needs: Needs = Needs(),  # noqa: B008  # frozen
) -> tuple[int, str, Run]:
    """The exit code, the output of both streams, and the run."""
    ended = (0, "")

    async def start_run(run: Run) -> int:
        nonlocal ended
        ended = await start(run)
        return ended[0]

    _, run = await sandbox.execute(command, cwd, env, start_run, needs)
    return *ended, run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with an empty `workspace`."""
    (tmp_path / "workspace").mkdir()
    return tmp_path


@pytest.fixture
async def sandbox(root: Path) -> Sandbox:
    if MISSING:
        pytest.skip(MISSING)
    made = make_sandbox(root)
    assert await made.check(), made.why_not
    return made


@pytest.fixture
def shell(sandbox: Sandbox, root: Path) -> Shell:
    """`await shell(line, needs, **variables)`: the exit code, the output, and the findings."""

    async def run_line(line: str, needs: Needs = Needs(), **variables: str) -> tuple[int, str, Findings]:  # noqa: B008  # frozen
        command = ("/bin/bash", "-c", line)
        code, output, run = await run_in(sandbox, command, root / "workspace", {**PATH, **variables}, needs)
        return code, output, run.findings

    return run_line
