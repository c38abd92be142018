"""How much the gateway does at the same time, and its limits. What is more is refused at once."""

import contextlib
from collections.abc import Iterator

from tark_lsp.gateway.problems import SERVER, Problem

MAX_RUNNING = 256
"""Requests that are read or answered at the same time."""

MAX_BYTES = 256 * 1024 * 1024
"""Of their bodies, as far as they say their length."""


class Load:
    """The requests that run now."""

    def __init__(self) -> None:
        self.running = 0
        self._bytes = 0

    @contextlib.contextmanager
    def slot(self, length: int) -> Iterator[None]:
        """`length` of the body, in bytes. Raises Problem."""
        if self.running >= MAX_RUNNING or (self.running and self._bytes + length > MAX_BYTES):
            message = f"the gateway has {self.running} requests at the moment; try again later"
            raise Problem(503, SERVER, "gateway_busy", message, retryable=True, retry_after=1.0)
        self.running += 1
        self._bytes += length
        try:
            yield
        finally:
            self.running -= 1
            self._bytes -= length
