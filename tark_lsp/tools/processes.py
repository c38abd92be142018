"""Runs a child process and sees to its end: output by callback, and no process of its group left, however it went."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

TERMINATE_SECONDS = 0.2
"""From SIGTERM to SIGKILL: with what follows, well under the 500 ms a cancel may take."""

DRAIN_SECONDS = 0.3
"""How long output is still read after the process has exited: a background child may keep the pipe open for ever."""

REAP_SECONDS = 1.0

if sys.platform == "win32":
    CREATION_FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP
else:
    CREATION_FLAGS = 0

Output = Callable[[bytes], bool]
"""Given each piece of output as it comes; False: that is enough, end the process."""


class Child(asyncio.SubprocessProtocol):
    """`over`: the process exited, or its output is enough. `drained`: no more output is wanted, or none can come."""

    def __init__(self, on_stdout: Output, on_stderr: Output | None) -> None:
        self.callbacks = {1: on_stdout, 2: on_stderr or on_stdout}
        self.open_pipes = {1} if on_stderr is None else {1, 2}
        self.over = asyncio.Event()
        self.exited = asyncio.Event()
        self.drained = asyncio.Event()
        self.enough = False
        self.failure: Exception | None = None

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self.enough:
            return
        try:
            self.enough = not self.callbacks[fd](data)
        except Exception as error:  # noqa: BLE001  # raised again by run_process, where the caller sees it
            self.failure, self.enough = error, True
        if self.enough:
            self.drained.set()
            self.over.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's signature
        self.open_pipes.discard(fd)
        if not self.open_pipes:
            self.drained.set()

    def process_exited(self) -> None:
        self.exited.set()
        self.over.set()


async def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    on_stdout: Output,
    on_stderr: Output | None = None,
    input_bytes: bytes | None = None,
    marker: str = "",
) -> int | None:
    """Runs `argv` and gives its exit code: negative for a signal, None where a callback had enough.

    Without `on_stderr` both outputs go to `on_stdout`, in order. Without `input_bytes` stdin is empty. The process gets
    a session and group of its own; what is left of the group is ended when this returns or raises, also when cancelled.
    `marker` (`NAME=value`, which `env` has too) finds processes that left the group (Linux only).

    Raises OSError where the program cannot be started, and what a callback raised.
    """
    loop = asyncio.get_running_loop()
    starting = asyncio.ensure_future(
        loop.subprocess_exec(
            lambda: Child(on_stdout, on_stderr),
            *argv,
            stdin=subprocess.DEVNULL if input_bytes is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if on_stderr is None else subprocess.PIPE,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
            creationflags=CREATION_FLAGS,
        )
    )
    try:
        transport, child = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # asyncio would end the process alone, and it may have children already.
        transport, child = await starting
        await _end_group(transport.get_pid(), child, marker)
        transport.close()
        raise
    try:
        if input_bytes is not None:
            stdin = transport.get_pipe_transport(0)
            assert isinstance(stdin, asyncio.WriteTransport)
            stdin.write(input_bytes)
            stdin.close()
        await child.over.wait()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(child.drained.wait(), DRAIN_SECONDS)
    finally:
        try:
            await _end_group(transport.get_pid(), child, marker)
        finally:
            transport.close()
    if child.failure is not None:
        raise child.failure
    return None if child.enough else transport.get_returncode()


async def _end_group(pid: int, child: Child, marker: str) -> None:
    """SIGTERM, a moment to clean up, SIGKILL; a second cancel shortens the moment and nothing else."""
    if sys.platform == "win32":  # untested
        if not child.exited.is_set():
            taskkill = str(Path(os.environ["SYSTEMROOT"], "System32", "taskkill.exe"))
            killer = await asyncio.create_subprocess_exec(
                taskkill, "/F", "/T", "/PID", str(pid), stdout=subprocess.DEVNULL
            )
            await killer.wait()
        return
    try:
        if _signal_group(pid, signal.SIGTERM):
            loop = asyncio.get_running_loop()
            deadline = loop.time() + TERMINATE_SECONDS
            while loop.time() < deadline and _signal_group(pid, 0):  # noqa: ASYNC110  # nothing tells when a group ends
                await asyncio.sleep(0.01)
    finally:
        _signal_group(pid, signal.SIGKILL)
        if marker:
            _kill_marked(marker)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(child.exited.wait(), REAP_SECONDS)


def _signal_group(pid: int, number: int) -> bool:
    """False: there is no such group any more, or nothing in it is ours."""
    if sys.platform == "win32":
        return False
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _kill_marked(marker: str) -> None:
    """Ends every process that was started with `marker` in its environment, until none is found (three rounds)."""
    needle = b"\0" + os.fsencode(marker) + b"\0"
    for _ in range(3):
        found = False
        for entry in Path("/proc").glob("[0-9]*/environ"):
            try:
                if needle in b"\0" + entry.read_bytes():
                    os.kill(int(entry.parent.name), signal.SIGKILL)
                    found = True
            except (OSError, ValueError):
                continue  # it ended meanwhile, or it is another user's
        if not found:
            return
