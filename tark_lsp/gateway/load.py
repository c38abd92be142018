"""Counts and limits the requests that the gateway handles at the same time. It refuses further ones at once."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from tark_lsp.gateway.problems import SERVER, Problem

MAX_RUNNING = 256
"""Requests at the same time, from the start of reading to the end of the answer."""

MAX_BYTES = 256 * 1024 * 1024
"""Total size of their bodies."""


@dataclass(slots=True, eq=False)
class Slot:
    """One request. `bytes`: the length of its body; the maximum while the length is unknown."""

    bytes: int


class Load:
    """The requests that run now."""

    def __init__(self) -> None:
        self._slots: set[Slot] = set()

    @property
    def running(self) -> int:
        return len(self._slots)

    @contextlib.contextmanager
    def slot(self, length: int) -> Iterator[Slot]:
        """Reserve a slot for a body of `length` bytes. Raises Problem if the gateway is busy."""
        held = sum(slot.bytes for slot in self._slots)
        if self.running >= MAX_RUNNING or (self.running and held + length > MAX_BYTES):
            message = f"the gateway has {self.running} requests at the moment; try again later"
            raise Problem(503, SERVER, "gateway_busy", message, retryable=True, retry_after=1.0)
        slot = Slot(length)
        self._slots.add(slot)
        try:
            yield slot
        finally:
            self._slots.remove(slot)
