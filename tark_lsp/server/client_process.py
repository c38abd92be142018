"""The process of a server that a terminal started: its messages over pipes, its log, its end. Standard library only."""

import asyncio
import contextlib
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.errors import TarkError

PAUSE_SECONDS = 0.01


class ServerGone(TarkError):
    """The server ended, or wrote something that is not LSP. The hint holds the last lines of its log."""


class ServerProcess:
    def __init__(self, process: asyncio.subprocess.Process, log: Any) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._stdin, self._stdout, self._log = process, process.stdin, process.stdout, log

    @classmethod
    async def start(cls, argv: Sequence[str], environ: Mapping[str, str] | None) -> "ServerProcess":
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        # A process group of its own: Ctrl-C in the terminal is for us, and we tell the server what to do.
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=environ,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        return cls(process, log)

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "replace")
        if not self._stdin.is_closing():
            self._stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def next_message(self) -> dict[str, Any]:
        """Raises ServerGone."""
        try:
            headers = await self._stdout.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in headers.split(b"\r\n") if line[:15].lower() == b"content-length:")
            message: dict[str, Any] = json.loads(await self._stdout.readexactly(length))
        except (EOFError, asyncio.LimitOverrunError, StopIteration, ValueError) as error:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.wait(), 1)
            self._log.seek(0)
            lines = self._log.read().decode("utf-8", "replace").strip().splitlines()[-12:]
            raise ServerGone("the server ended unexpectedly", hint="\n".join(lines)) from error
        return message

    async def wait(self) -> None:
        """Until the process has ended. `Process.wait` also waits until its output is closed: it hangs if nobody reads
        the rest, or if another process has inherited it."""
        while self._process.returncode is None:  # noqa: ASYNC110 - asyncio has no event for it
            await asyncio.sleep(PAUSE_SECONDS)

    def kill(self) -> None:
        """End the process at once, if it has not ended."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    def close_pipes(self) -> None:
        """What is left in them is lost."""
        self._process._transport.close()  # type: ignore[attr-defined]  # asyncio has no public way

    def close_log(self) -> None:
        self._log.close()
