"""The server's side of the index process: JSON lines in both directions, and one future for each question."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.errors import ToolError

PROGRAM = (sys.executable, "-P", "-m", "tark_lsp.index.process")
"""Without -P, Python would import modules from the current folder, which can be an untrusted project."""
KEPT = ("HOME", "LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USERPROFILE", "XDG_CONFIG_HOME")
"""Environment variables that the child gets. None contains a key."""
ALLOCATION = {"MALLOC_ARENA_MAX": "2", "MALLOC_TRIM_THRESHOLD_": "1000000"}
"""For glibc: with an arena for each thread and without trimming, the process takes 50% more memory."""
LONGEST_LINE = 64 * 1024 * 1024
MOST_BYTES = 2_000_000_000
END_SECONDS = 0.3
"""Time from the end of its input to SIGKILL."""

Message = Mapping[str, Any]


class ChildEnded(Exception):
    """The process ended before it answered. The argument says how, as text for users."""


class ChildProcess:
    """One run of the index process. `on_message` gets every message that is not an answer.

    `on_end` is called once with the reason when the process has ended, unless `close` ended it.
    """

    def __init__(self, on_message: Callable[[Message], None], on_end: Callable[[str], None]) -> None:
        self._on_message = on_message
        self._on_end = on_end
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._reading is not None and not self._reading.done()

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(
        self, folders: Sequence[Path], cache: Path, *, most_bytes: int = MOST_BYTES, fresh: bool = False
    ) -> None:
        """`most_bytes`: size limit of the index on disk. `fresh`: remove the stored index first.

        Raises OSError if the process cannot be started.
        """
        named = {"folders": [*map(str, folders)], "cache": str(cache)}
        arguments = json.dumps({**named, "mostBytes": most_bytes, "fresh": fresh})
        self._process = await asyncio.create_subprocess_exec(
            *PROGRAM,
            arguments,
            cwd=folders[0].anchor if folders else None,
            env={**ALLOCATION, **{name: os.environ[name] for name in KEPT if name in os.environ}},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            limit=LONGEST_LINE,
            start_new_session=True,
        )
        self._reading = asyncio.create_task(self._read(self._process))

    def send(self, message: Message) -> None:
        """Raises nothing if the process has ended: `on_end` reports it."""
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(json.dumps(message).encode() + b"\n")

    async def request(self, message: Message, seconds: float) -> Any:
        """Return the answer. Raises ChildEnded, TimeoutError, or the ToolError that the process sent."""
        if not self.is_running:
            raise ChildEnded("it is not running")
        self._number += 1
        number, future = self._number, asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self.send({**message, "id": number})
        try:
            async with asyncio.timeout(seconds):
                return await future
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the process, even if it does not respond: close its input, then kill it if it is still running."""
        self._closing = True
        process = self._process
        if process is None:
            return
        try:
            if process.stdin is not None:
                process.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), END_SECONDS)
        finally:
            _kill_group(process.pid)
            if self._reading is not None:
                self._reading.cancel()
        await process.wait()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                self._take(json.loads(line))
        except ValueError:
            _kill_group(process.pid)  # a line that is malformed or too long: nothing after it can be trusted
        finally:
            _kill_group(process.pid)
            code = await process.wait()
            how = f"it was ended by signal {-code}" if code < 0 else f"it ended with exit code {code}"
            for future in [*self._waiting.values()]:
                if not future.done():
                    future.set_exception(ChildEnded(how))
            if not self._closing:
                self._on_end(how)

    def _take(self, message: Message) -> None:
        if "answer" not in message and "failed" not in message:
            self._on_message(message)
            return
        future = self._waiting.get(message["id"])
        if future is None or future.done():
            return  # the request is no longer waiting
        if "failed" in message:
            failed = message["failed"]
            future.set_exception(ToolError(failed["code"], failed["message"], hint=failed["hint"]))
        else:
            future.set_result(message["answer"])


def _kill_group(process_id: int) -> None:
    if sys.platform == "win32":  # untested
        with contextlib.suppress(OSError):
            os.kill(process_id, signal.SIGTERM)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process_id, signal.SIGKILL)
