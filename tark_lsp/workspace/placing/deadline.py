"""A limit of processor time for placing the edits of one call, checked in every loop whose length the input decides."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tark_lsp.errors import ToolError

SECONDS = 1.0
"""Of this thread's processor time: what other processes take does not count, so a busy machine changes no result."""
EVERY = 256
"""Steps of a short loop between two checks."""

_ends: ContextVar[float | None] = ContextVar("placing_ends", default=None)


@contextmanager
def limited_time(seconds: float = SECONDS) -> Iterator[None]:
    """`check_time` raises after so many seconds inside the block. Inside another such block, the outer limit holds."""
    if _ends.get() is not None:
        yield
        return
    token = _ends.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _ends.reset(token)


def check_time() -> None:
    """Raises ToolError `too_large` if the time is up; never outside of `limited_time`."""
    ends = _ends.get()
    if ends is not None and time.thread_time() > ends:
        raise ToolError(
            "too_large",
            "the place cannot be found quickly enough: the file or the quoted text is too large, or too repetitive",
            hint="quote fewer lines that occur only once, and make several smaller calls",
        )


def checked_each(count: int) -> bool:
    """For loops of many short steps: checks the time at every `EVERY`th step. Always True."""
    if count % EVERY == 0:
        check_time()
    return True
