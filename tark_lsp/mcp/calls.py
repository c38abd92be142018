"""A request that waits for its answer, and how long it may."""

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tark_lsp.mcp.elicitation import Elicit

HARD_SECONDS = 600.0


class Clock:
    """Ends a request after `idle` seconds without progress, and after `hard` seconds in any case.

    While the user is asked, neither counts.
    """

    def __init__(self, idle: float, hard: float = HARD_SECONDS) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle = idle
        now = self._loop.time()
        self._idle_end, self._hard_end = now + idle, now + max(idle, hard)
        self._asking = 0
        self.timeout = asyncio.timeout_at(self._end())

    def progress(self) -> None:
        self._idle_end = self._loop.time() + self._idle
        self._reschedule()

    @contextmanager
    def asking(self) -> Iterator[None]:
        began = self._loop.time()
        self._asking += 1
        self._reschedule()
        try:
            yield
        finally:
            self._asking -= 1
            self._hard_end += self._loop.time() - began
            self.progress()

    def _reschedule(self) -> None:
        if not self.timeout.expired():
            self.timeout.reschedule(self._end())

    def _end(self) -> float | None:
        end = min(self._idle_end, self._hard_end)
        return None if self._asking or end == math.inf else end


@dataclass(slots=True, eq=False)
class Waiting:
    """`report`: called with the text of each progress. `elicit`: None if the user cannot be asked."""

    answer: "asyncio.Future[Mapping[str, Any]]"
    clock: Clock
    report: Callable[[str], None] | None = None
    elicit: Elicit | None = None
    asked: dict[int | str, "asyncio.Task[None]"] = field(default_factory=dict)
    questions: int = 0
    """How many there were, the open ones included."""


def _figure(value: object) -> str:
    """Empty for what is no number. `float` cannot have an integer of 400 digits."""
    try:
        return f"{float(value):g}" if isinstance(value, int | float) else ""
    except OverflowError:
        return ""


def progress_text(params: Mapping[str, Any]) -> str:
    """One line: `reading (3 of 10)`."""
    done, total = _figure(params.get("progress")), _figure(params.get("total"))
    message = " ".join(str(params.get("message") or "")[:1_000].split())[:200]
    count = f"{done} of {total}" if done and total else done
    return f"{message} ({count})" if message and count else message or count
