"""How much the gateway does at the same time, and its limits. What is more is refused at once."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from tark_lsp.gateway.problems import SERVER, Problem

MAX_RUNNING = 256
"""Requests that are read or answered at the same time."""

MAX_BYTES = 256 * 1024 * 1024
"""Of their bodies."""


@dataclass(slots=True, eq=False)
class Slot:
    """One request. `bytes`: the length of its body; the longest that is allowed as long as it is not known."""

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
        """`length` of the body, in bytes. Raises Problem."""
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
