"""The interface and limits that both transports, stdio and streamable HTTP, share."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from tark_lsp.errors import McpError
from tark_lsp.mcp.eras import ServerFacts
from tark_lsp.mcp.json_rpc import Incoming, RequestId

LARGEST_MESSAGE = 16 * 1024 * 1024
"""Bytes."""
MOST_UNASKED = 64 * 1024 * 1024
"""The most bytes in a row without an answer to a request. A server that sends more is stopped."""
CLOSE_SECONDS = 2.0
"""The limit for each step of an orderly shutdown."""


def pauses() -> Iterator[float]:
    """Seconds to wait before each reopening of a stream for changes. They grow, because some servers close the stream
    each time, or are down for a while."""
    return (min(1.0 * 2**number, 60.0) for number in itertools.count())


class ProgramEnded(McpError):
    """The server's process ended by itself."""


class HttpRefusal(McpError):
    """An HTTP error status in place of an answer. `challenge`: its header `WWW-Authenticate`."""

    def __init__(self, status: int, message: str, *, hint: str = "", challenge: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.challenge = challenge


class Receiver(Protocol):
    """Gets the messages of a transport. Its methods never raise."""

    def received(self, message: Incoming) -> bool:
        """Handles a message. Returns whether it answers a pending request."""
        ...

    def request_failed(self, request_id: RequestId, error: McpError) -> None:
        """The request failed and gets no answer."""
        ...

    def closed(self, error: McpError) -> None:
        """The connection is closed."""
        ...


class Transport(Protocol):
    """Used by one `Connection`, from one event loop."""

    @property
    def is_http(self) -> bool: ...

    async def start(self, receiver: Receiver) -> None:
        """Raises McpError."""
        ...

    def send(self, message: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Does not wait. `headers`: the HTTP headers for this message. Raises McpError if the connection is closed."""
        ...

    def opened(self, facts: ServerFacts) -> None:
        """The connection is open, and its era is known."""
        ...

    def abandon(self, request_id: RequestId) -> None:
        """The answer to this request is no longer needed."""
        ...

    async def aclose(self) -> None: ...
