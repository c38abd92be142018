"""A raw stdio client for a real server process: it writes frames as given, and reads answers as plain dicts."""

import contextlib
import fcntl
import io
import itertools
import json
import os
import queue
import re
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
SECONDS = 30.0
"""Enough for a server to start on a busy machine. A running server answers in milliseconds."""


def frame(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def unread_bytes(pipe: IO[bytes]) -> int:
    """How many bytes are in the pipe: Linux and macOS tell the writer, too."""
    (count,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return int(count)


class RawServer:
    """A context manager that ends the process by its id. `others` are messages that nobody asked for yet."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path = ROOT, env: Mapping[str, str] | None = None, reading: bool = True
    ) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in __exit__
        self.process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self._ids = itertools.count(1)
        self._received: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self.others: list[dict[str, Any]] = []
        if reading:
            self.start_reading()

    def __enter__(self) -> "RawServer":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self._thread.is_alive():
            self._thread.join()
        self._stdout.close()
        self._log.close()

    def start_reading(self) -> None:
        self._thread.start()

    def initialize(self, **params: Any) -> dict[str, Any]:
        """Send `initialize` and `initialized`. Returns the result of `initialize`."""
        answer = self.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}} | params)
        self.notify("initialized", {})
        result: dict[str, Any] = answer["result"]
        return result

    def write(self, data: bytes) -> None:
        self._stdin.write(data)

    def wait_until_read(self, seconds: float = SECONDS) -> None:
        """Wait until the server has taken all that was written."""
        until = time.monotonic() + seconds
        while unread_bytes(self._stdin):
            assert time.monotonic() < until, f"the server does not read; its log: {self.log}"
            time.sleep(0.01)

    def send(self, message: object) -> None:
        self.write(frame(message))

    def notify(self, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def start(self, method: str, params: object = None) -> int:
        """Send a request. Returns its id."""
        request_id = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return request_id

    def call(self, method: str, params: object = None) -> dict[str, Any]:
        """Send a request. Returns the whole response."""
        return self.answer(self.start(method, params))

    def answer(self, request_id: object) -> dict[str, Any]:
        return self.find(lambda message: "method" not in message and message.get("id") == request_id)

    def message(self, method: str) -> dict[str, Any]:
        """The next notification or request with this method."""
        return self.find(lambda message: message.get("method") == method)

    def find(self, wanted: Any, seconds: float = SECONDS) -> dict[str, Any]:
        """The first message, received or still to come, that is `wanted`. Raises AssertionError after `seconds`."""
        for message in self.others:
            if wanted(message):
                self.others.remove(message)
                return message
        until = time.monotonic() + seconds
        while True:
            try:
                received = self._received.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"not received: {self.others}; the server's log: {self.log}") from None
            if received is None:
                raise AssertionError(f"the stream ended: {self.others}; the server's log: {self.log}")
            if wanted(received):
                return received
            self.others.append(received)

    def close_stdin(self) -> None:
        self._stdin.close()

    def wait(self, seconds: float = SECONDS) -> int:
        """The exit code."""
        return self.process.wait(seconds)

    def wait_for_log(self, words: str, seconds: float = SECONDS) -> None:
        """Wait until `words` are in the log."""
        until = time.monotonic() + seconds
        while words not in self.log:
            assert time.monotonic() < until, f"{words!r} is not logged: {self.log}"
            time.sleep(0.01)

    @property
    def log(self) -> str:
        """All of stderr so far."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def _read(self) -> None:
        try:
            with io.BufferedReader(self._stdout) as stream:  # type: ignore[type-var]  # raw, since bufsize=0
                while line := stream.readline():
                    match = re.fullmatch(rb"Content-Length: (\d+)\r\n", line)
                    assert match is not None, f"not a header: {line!r}"
                    while stream.readline() != b"\r\n":
                        pass
                    self._received.put(json.loads(stream.read(int(match[1]))))
        finally:
            self._received.put(None)


def python(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]
