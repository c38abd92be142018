"""The transport over stdin and stdout of a child process, with one line of JSON for each message."""

import asyncio
import contextlib
import logging
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.errors import McpError
from tark_lsp.mcp.eras import ServerFacts
from tark_lsp.mcp.json_rpc import RequestId, encode
from tark_lsp.mcp.message_lines import MessageLines
from tark_lsp.mcp.server_log import ServerLog
from tark_lsp.mcp.transport import CLOSE_SECONDS, LARGEST_MESSAGE, ProgramEnded, Receiver
from tark_lsp.workspace.processes import CREATION_FLAGS, hide_memory, signal_group

log = logging.getLogger(__name__)

KEPT_ERRORS = 4_000
"""The last bytes of stderr that are kept for an error."""
NPM = "npm error"
POLL_SECONDS = 0.02
SILENCE_SECONDS = 0.5
"""How long to wait for the process to exit after its stdin or stdout ended, and for the end of stderr after the process
exited. A child of the process can keep stderr open."""
PIPES = {0: "stdin", 1: "stdout"}
ERRORS = 2
"""The file descriptor of stderr."""


@dataclass(frozen=True, slots=True)
class Program:
    """The program to start. `argv[0]` is an absolute path. `first_input` is written to stdin before anything else.

    `hint` is added to the error if the program ends by itself.
    """

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    first_input: bytes = field(default=b"", repr=False)
    hint: str = ""


class StdioTransport(asyncio.SubprocessProtocol):
    is_http = False

    def __init__(self, name: str, program: Program, server_log: ServerLog | None = None) -> None:
        self._name = name
        self._log = ServerLog() if server_log is None else server_log
        self._program = program
        self._receiver: Receiver | None = None
        self._process: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._errors = bytearray()
        self._errors_ended = False
        self._closing = False

    async def start(self, receiver: Receiver) -> None:
        hide_memory()
        self._receiver = receiver
        self._lines = MessageLines(self._name, self._log, receiver.received)
        starting = asyncio.ensure_future(self._spawn())
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            with contextlib.suppress(McpError):
                await starting
            await self.aclose()
            raise
        if self._program.first_input:
            self._write(self._program.first_input)

    async def _spawn(self) -> None:
        program = self._program
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *program.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=program.cwd,
                env=dict(program.env),
                start_new_session=True,
                creationflags=CREATION_FLAGS,
            )
        except (OSError, ValueError) as error:
            raise McpError(f"it could not be started: {error}", hint="check its command") from error

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Sets the process here already, because it can exit before `subprocess_exec` returns."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._process = transport

    def send(self, message: Mapping[str, Any], headers: Mapping[str, str]) -> None:  # noqa: ARG002  # HTTP's
        self._write(encode(message) + b"\n")

    def opened(self, facts: ServerFacts) -> None:
        pass

    def abandon(self, request_id: RequestId) -> None:
        pass

    def _write(self, data: bytes) -> None:
        stdin = self._process.get_pipe_transport(0) if self._process is not None else None
        if not isinstance(stdin, asyncio.WriteTransport) or self._closing:
            raise McpError("it has ended")
        if stdin.is_closing() or self._exited.is_set():  # `_report_exit` says why
            return
        if stdin.get_write_buffer_size() > LARGEST_MESSAGE:
            raise McpError("it does not read its input")
        stdin.write(data)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == ERRORS:
            self._errors = (self._errors + data)[-KEPT_ERRORS:]
            log.debug("MCP server %s: %r", self._name, data[:KEPT_ERRORS])
            self._log.said(data)
            return
        if self._closing:
            return
        try:
            self._lines.feed(data)
        except McpError as error:
            self._end(error)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's signature
        """A server that closed its stdin or stdout cannot answer any more, so it is stopped. If it is just exiting, the
        delay lets it exit by itself, so that the error can name its exit code."""
        if fd in PIPES and not self._closing:
            why = McpError(f"it closed its {PIPES[fd]}, so it was ended")
            asyncio.get_running_loop().call_later(SILENCE_SECONDS, self._end, why)
        if fd == ERRORS:
            self._errors_ended = True
            if self._exited.is_set():
                self._report_exit()

    def process_exited(self) -> None:
        self._exited.set()
        if self._errors_ended:
            self._report_exit()
        else:  # stderr, which has the reason, may not be read yet
            asyncio.get_running_loop().call_later(SILENCE_SECONDS, self._report_exit)

    def _report_exit(self) -> None:
        code = self._process.get_returncode() if self._process is not None else None
        how = f"exit code {code}" if code is None or code >= 0 else f"signal {-code}"
        reason = _reason(self._errors.decode("utf-8", "replace").splitlines())
        said = f": {reason[:300]}" if reason else ""
        self._report(ProgramEnded(f"it has ended ({how}){said}", hint=self._program.hint))

    def _end(self, why: McpError) -> None:
        """Kills the server at once, because it does harm or is of no use."""
        if self._closing or self._exited.is_set():  # then `_report_exit` says why
            return
        self._report(why)
        self._signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)

    def _report(self, error: McpError) -> None:
        if not self._closing:
            self._closing = True
            self._log.ended(error)
            if self._receiver is not None:
                self._receiver.closed(error)

    def _signal(self, number: int) -> bool:
        """Sends the signal to the process group. Returns whether a process of the group still exists."""
        if self._process is None:
            return False
        if sys.platform == "win32":  # untested
            if number and not self._exited.is_set():
                self._process.kill()
            return not self._exited.is_set()
        return signal_group(self._process.get_pid(), number)

    async def aclose(self) -> None:
        """Closes stdin, waits, sends SIGTERM, waits, sends SIGKILL: as the specification says."""
        self._closing = True
        if self._process is None:
            return
        stdin = self._process.get_pipe_transport(0)
        if stdin is not None:
            stdin.close()
        try:
            if await self._gone(CLOSE_SECONDS):
                return
            self._signal(signal.SIGTERM)
            await self._gone(CLOSE_SECONDS)
        finally:
            self._signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._exited.wait(), CLOSE_SECONDS)
            self._process.close()

    async def _gone(self, seconds: float) -> bool:
        """Whether the whole group ends within this time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)
        while self._signal(0) and loop.time() < end:  # noqa: ASYNC110  # there is no event for the end of a group
            await asyncio.sleep(POLL_SECONDS)
        return self._exited.is_set() and not self._signal(0)


def _reason(lines: Sequence[str]) -> str:
    """The last line of stderr. npm is different: its reason comes first, after an error code, and the path of a log
    comes last."""
    said = [line.strip() for line in lines if line.strip()]
    if not said or not said[-1].startswith(NPM):
        return said[-1] if said else ""
    return next((line for line in said if line.startswith(NPM) and not line.startswith(f"{NPM} code")), said[-1])
