"""Checks that the sandbox works on this machine: what must fail inside fails, and what must work works."""

import asyncio
import contextlib
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TEST_SECONDS = 10.0

# Each line prints what went wrong. `$1` is the outside folder, `$2` the workspace, `$3` the port.
SCRIPT = r"""
{ echo x >"$1/written"; } 2>/dev/null && echo "a file outside can be written"
{ read -r line <"$1/secret/key"; } 2>/dev/null && [ -n "$line" ] && echo "a masked file can be read"
{ echo x >"$2/.git/config"; } 2>/dev/null && echo "a file in .git can be written"
{ mv "$2/.git" "$2/elsewhere"; } 2>/dev/null && echo ".git can be moved away"
{ exec 3<>"/dev/tcp/127.0.0.1/$3"; } 2>/dev/null && echo "a connection can be made"
{ echo x >"$2/plain"; } 2>/dev/null || echo "a file in the workspace cannot be written"
echo done
"""

PROMISES = "done"


@dataclass(frozen=True, slots=True)
class Ground:
    """A workspace and targets outside it that the test tries to reach. All are below one temporary folder."""

    workspace: Path
    outside: Path
    masked: Path
    port: int
    accepted: Callable[[], bool]


@contextlib.contextmanager
def make_ground(folder: Path | None = None) -> Iterator[Ground]:
    """`folder`: where the temporary folder is created. It must be visible inside, so that the test is meaningful."""
    with contextlib.ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tark-sandbox-", dir=folder))).resolve()
        workspace, outside = root / "workspace", root / "outside"
        for path in (workspace / ".git", outside / "secret"):
            path.mkdir(parents=True)
        (workspace / ".git" / "config").write_text("[core]\n", encoding="utf-8")
        (outside / "secret" / "key").write_text("a secret\n", encoding="utf-8")
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.setblocking(False)

        def accepted() -> bool:
            with contextlib.suppress(BlockingIOError):
                listener.accept()[0].close()
                return True
            return False

        yield Ground(workspace, outside, outside / "secret", listener.getsockname()[1], accepted)


NOT_STARTED = "bubblewrap could not start a command"


def verdict(ground: Ground, code: int | None, output: str) -> str:
    """Why the sandbox does not work; empty if it does. The files decide, not only the script's output."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if code != 0 or PROMISES not in lines:
        said = lines[-1] if lines else f"exit code {code}"
        return f"{NOT_STARTED}: {explained(said)}"
    wrong = [line for line in lines if line != PROMISES]
    checks = (
        ((ground.outside / "written").exists(), "a file outside can be written"),
        (not (ground.workspace / ".git").is_dir(), ".git can be moved away"),
        (_text(ground.workspace / ".git" / "config") not in ("[core]\n", ""), "a file in .git can be written"),
        (ground.accepted(), "a connection can be made"),
        (not (ground.workspace / "plain").exists(), "a file in the workspace cannot be written"),
    )
    wrong += [what for failed, what in checks if failed and what not in wrong]
    return f"the self-test of the sandbox failed: {', '.join(wrong)}" if wrong else ""


def _text(path: Path) -> str:
    """The text of a file; empty if there is no such file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


MEANINGS = (
    ("No permissions to create new namespace", "this system does not let users create namespaces"),
    ("Creating new namespace failed", "this system does not let programs create namespaces, like many containers"),
    ("setting up uid map", "this system does not let users create namespaces (AppArmor can be the cause)"),
    ("Can't mount proc", "this container does not let programs mount /proc"),
    ("Operation not permitted", "this system or container forbids what bubblewrap needs"),
    ("Unknown option", "this bubblewrap is too old; version 0.5 or newer is required"),
)


def explained(said: str) -> str:
    """bubblewrap's message, after an explanation if there is one."""
    meaning = next((meaning for part, meaning in MEANINGS if part in said), "")
    return f"{meaning} ({said})" if meaning else said


def find_bash() -> str | None:
    """The path of bash: of the shells, only bash can connect without another program."""
    return next((path for path in ("/bin/bash", "/usr/bin/bash") if os.access(path, os.X_OK)), None)


async def run_test(argv: Sequence[str], ground: Ground) -> str:
    """The verdict on a command line that runs `SCRIPT` inside. Never raises if the sandbox does not work."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
    except OSError as error:
        return f"bubblewrap could not be started: {error.strerror}"
    try:
        async with asyncio.timeout(TEST_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        return f"bubblewrap did not start a command within {TEST_SECONDS:g} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return verdict(ground, process.returncode, output.decode("utf-8", "replace"))
