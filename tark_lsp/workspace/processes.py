"""Runs a child process: passes its output to callbacks, and always ends all processes of its group."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

TERMINATE_SECONDS = 0.2
"""Time from SIGTERM to SIGKILL. With the steps that follow, well under the 500 ms that a cancellation can take."""

DRAIN_SECONDS = 0.3
"""How long output is read after the process has exited. A background child can keep the pipe open forever."""

REAP_SECONDS = 1.0

PR_SET_DUMPABLE = 4
"""prctl(2)."""

if sys.platform == "win32":
    CREATION_FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP
else:
    CREATION_FLAGS = 0

OutputCallback = Callable[[bytes], bool]
"""Called with each piece of output as it arrives. Returns False to end the process."""


class Child(asyncio.SubprocessProtocol):
    """`over`: the process exited, or a callback ended it. `drained`: no more output is wanted or possible."""

    def __init__(self, on_stdout: OutputCallback, on_stderr: OutputCallback | None) -> None:
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
    on_stdout: OutputCallback,
    on_stderr: OutputCallback | None = None,
    input_bytes: bytes | None = None,
    marker: str = "",
    memory_bytes: int | None = None,
) -> int | None:
    """Run `argv` and return its exit code: negative for a signal, None if a callback ended the process.

    Without `on_stderr` both outputs go to `on_stdout`, in order. Without `input_bytes` stdin is empty. The process gets
    its own session and group. The rest of the group is ended when this returns, raises or is cancelled.
    `marker` (`NAME=value`, also in `env`) finds processes that left the group (Linux only). `memory_bytes` limits the
    memory that the process can write to (Linux only).

    Raises OSError if the program cannot be started, and what a callback raised.
    """
    hide_memory()
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
        # asyncio would end only the process itself, which can already have children.
        transport, child = await starting
        await _end_group(transport.get_pid(), child, marker)
        transport.close()
        raise
    try:
        if memory_bytes is not None:
            _limit_memory(transport.get_pid(), memory_bytes)
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


@cache
def hide_memory() -> None:
    """Make `/proc/PID/environ` and `/proc/PID/mem` of this process unreadable, because keys are in them (Linux only).

    A program that Tark starts runs as the same user, and could read them otherwise. Root still can.
    """
    if sys.platform == "linux":
        import ctypes  # not needed before the first program is started

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _limit_memory(pid: int, limit: int) -> None:
    if sys.platform != "linux":
        return
    import resource  # only on Linux

    with contextlib.suppress(ProcessLookupError):  # it has already ended
        resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))


async def _end_group(pid: int, child: Child, marker: str) -> None:
    """Send SIGTERM, wait a moment for a clean end, send SIGKILL. A second cancellation only shortens the wait."""
    if sys.platform == "win32":  # untested
        if not child.exited.is_set():
            taskkill = str(Path(os.environ["SYSTEMROOT"], "System32", "taskkill.exe"))
            killer = await asyncio.create_subprocess_exec(
                taskkill, "/F", "/T", "/PID", str(pid), stdout=subprocess.DEVNULL
            )
            await killer.wait()
        return
    try:
        if signal_group(pid, signal.SIGTERM):
            loop = asyncio.get_running_loop()
            deadline = loop.time() + TERMINATE_SECONDS
            while loop.time() < deadline and signal_group(pid, 0):  # noqa: ASYNC110  # no event tells when it ends
                await asyncio.sleep(0.01)
    finally:
        signal_group(pid, signal.SIGKILL)
        if marker:
            _kill_marked(marker)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(child.exited.wait(), REAP_SECONDS)


def signal_group(pid: int, number: int) -> bool:
    """False if the group no longer exists, or none of its processes belongs to the user."""
    if sys.platform == "win32":
        return False
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _kill_marked(marker: str) -> None:
    """End every process that has `marker` in its environment, until none is found (at most three rounds)."""
    needle = b"\0" + os.fsencode(marker) + b"\0"
    for _ in range(3):
        found = False
        for entry in Path("/proc").glob("[0-9]*/environ"):
            try:
                if needle in b"\0" + entry.read_bytes():
                    os.kill(int(entry.parent.name), signal.SIGKILL)
                    found = True
            except (OSError, ValueError):
                continue  # it has ended, or it belongs to another user
        if not found:
            return
