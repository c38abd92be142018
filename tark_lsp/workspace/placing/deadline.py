"""A limit of processor time for placing the edits of one call, checked in every loop whose length the input decides."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tark_lsp.errors import ToolError

SECONDS = 1.0
"""In processor time. Time of other processes does not count, so a busy machine does not change the result."""
EVERY = 256
"""Steps of a short loop between two checks."""


@dataclass
class Budget:
    """`left`: the remaining seconds. `ends`: the thread time at which none is left, for the thread that uses it."""

    left: float = SECONDS
    ends: float | None = None


_budget: ContextVar[Budget | None] = ContextVar("placing_budget", default=None)


@contextmanager
def one_budget() -> Iterator[None]:
    """All `limited_time` blocks inside this block share one limit, also in threads that it starts."""
    token = _budget.set(Budget())
    try:
        yield
    finally:
        _budget.reset(token)


@contextmanager
def limited_time() -> Iterator[None]:
    """In the block, `check_time` raises after the limit, or after the rest of a shared limit."""
    budget = _budget.get()
    if budget is None:
        with one_budget(), limited_time():
            yield
    elif budget.ends is not None:  # inside another block, whose limit applies
        yield
    else:
        budget.ends = time.thread_time() + budget.left
        try:
            yield
        finally:
            budget.left = budget.ends - time.thread_time()
            budget.ends = None


def check_time() -> None:
    """Raises ToolError `too_large` if the time is up; never outside of `limited_time`."""
    budget = _budget.get()
    if budget is not None and budget.ends is not None and time.thread_time() > budget.ends:
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
