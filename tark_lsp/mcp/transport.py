"""What the two transports, stdio and streamable HTTP, have in common."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from tark_lsp.errors import McpError
from tark_lsp.mcp.eras import ServerFacts
from tark_lsp.mcp.json_rpc import Incoming, RequestId

LARGEST_MESSAGE = 16 * 1024 * 1024
"""Bytes."""
MOST_UNASKED = 64 * 1024 * 1024
"""Bytes of garbage and notifications in a row, without an answer between them. A server that floods is ended."""
CLOSE_SECONDS = 2.0
"""For each step of an orderly end."""


def pauses() -> Iterator[float]:
    """Seconds before a stream for changes is opened again: some servers end it each time, or are gone for a while."""
    return (min(1.0 * 2**number, 60.0) for number in itertools.count())


class ProgramEnded(McpError):
    """The server's process has ended by itself."""


class HttpRefusal(McpError):
    """A status of HTTP in place of an answer. `challenge`: its header `WWW-Authenticate`."""

    def __init__(self, status: int, message: str, *, hint: str = "", challenge: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.challenge = challenge


class Receiver(Protocol):
    """Gets what arrives. Nothing in here raises."""

    def received(self, message: Incoming) -> bool:
        """Whether it is an answer that somebody waited for."""
        ...

    def request_failed(self, request_id: RequestId, error: McpError) -> None:
        """The request has no answer, and gets none."""
        ...

    def closed(self, error: McpError) -> None:
        """The connection is gone."""
        ...


class Transport(Protocol):
    """Used by one `Connection`, from one event loop."""

    @property
    def is_http(self) -> bool: ...

    async def start(self, receiver: Receiver) -> None:
        """Raises McpError."""
        ...

    def send(self, message: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Does not wait. `headers`: those of this message, for HTTP. Raises McpError if the connection is gone."""
        ...

    def opened(self, facts: ServerFacts) -> None:
        """The era is known."""
        ...

    def abandon(self, request_id: RequestId) -> None:
        """Nobody waits for this answer any more."""
        ...

    async def aclose(self) -> None: ...
