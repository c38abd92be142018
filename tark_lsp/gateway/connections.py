"""Connections to the gateway: uvicorn's protocol, with limits for the data that precedes a complete request head."""

import asyncio
import logging
import re

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tark_lsp.gateway.json_response import JsonResponse
from tark_lsp.gateway.problems import INVALID, Problem

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 1024
MAX_HEAD_BYTES = 64 * 1024
"""Size limit for the request line and the headers."""

HEAD_SECONDS = 15.0
"""Time limit for the request line and the headers."""

SLOW_READER_SECONDS = 120.0
"""How long the client may leave sent data unread."""

UPGRADE = re.compile(rb"(?<=\r\n)upgrade(?=[ \t]*:)", re.IGNORECASE)
"""Java's HTTP client offers HTTP/2 in this header of each request. With it, the parser would drop the body."""


class Connection(HttpToolsProtocol):
    """One connection, with one request at a time. If the data is not HTTP, or the head is too large or too slow, the
    client gets an error in OpenAI's format, and the connection is closed.

    A request that arrives before the previous one is answered is not read, and the connection ends with that answer:
    with pipelined requests, uvicorn would not notice that the client has left.

    https://www.uvicorn.org/server-behavior/ (as of version 0.54)
    """

    _in_head = True
    _ends_with_answer = False
    _head_bytes = 0
    _timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's signature
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            self._refuse(503, "gateway_busy", f"the gateway has {MAX_CONNECTIONS} connections at the moment")
        else:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(SLOW_READER_SECONDS, self._does_not_read)

    def resume_writing(self) -> None:
        self._stop_write_timer()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing() or self._ends_with_answer:
            return
        if self._in_head:
            self._head_bytes += len(data)
            head, end, rest = data.partition(b"\r\n\r\n")
            data = UPGRADE.sub(b"ignored", head) + end + rest
        super().data_received(data)
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES:
            self._refuse_large_head()
        elif not self._is_idle:
            self._stop_timer()
        elif self._timer is None:
            self._start_timer()

    def on_message_begin(self) -> None:
        if not self._is_idle:
            self._ends_with_answer, self.cycle.keep_alive = True, False
            raise ValueError("a request before the last one is answered")  # the parser stops here
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head, self._head_bytes = False, 0
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MAX_HEAD_BYTES:
            self._refuse_large_head()  # all of it can have arrived at once
            raise ValueError("the headers are too large")  # the parser stops here
        super().on_headers_complete()
        self.headers = []  # trailers after the body, such as a token, are not headers of this request

    def on_message_complete(self) -> None:
        self._in_head = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if not self._ends_with_answer:
            self._refuse(400, "invalid_http", msg)

    def _unsupported_upgrade_warning(self) -> None:
        self._refuse(400, "invalid_http", "CONNECT and an Upgrade of the protocol are not supported; use HTTP/1.1")

    @property
    def _is_idle(self) -> bool:
        """Whether no answer is in progress. Incoming data is then a head, or the rest of a refused body."""
        return self.cycle is None or self.cycle.response_complete

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self._late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _does_not_read(self) -> None:
        """Abort, because `close` would wait until the client has read the rest. The answer's task then ends, too."""
        log.warning("a client has not read for %.0f s; its connection is closed", SLOW_READER_SECONDS)
        self.transport.abort()

    def _late(self) -> None:
        self._timer = None
        if self._is_idle:
            self._refuse(408, "request_timeout", f"the headers did not arrive within {HEAD_SECONDS:.0f} s")

    def _refuse_large_head(self) -> None:
        self._refuse(431, "headers_too_large", f"the headers have more than {MAX_HEAD_BYTES // 1024} KiB")

    def _refuse(self, status: int, code: str, message: str) -> None:
        """End the connection. Send the error only if no answer has begun: it would look like a part of the answer."""
        self._stop_timer()
        if (self._is_idle or not self.cycle.response_started) and not self.transport.is_closing():
            body = bytes(JsonResponse(Problem(status, INVALID, code, message).body).body)
            head = f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            self.transport.write(f"{head}connection: close\r\n\r\n".encode() + body)
        if self.cycle is not None:
            self.cycle.disconnected = True
        self.transport.close()
