"""Runs the search for places and the diff of long texts in a thread, so that the event loop is not blocked."""

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_lock = Lock()
_pauses = 0
_was_enabled = False


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `work` returns or raises. It takes about a second, and creates objects without reference cycles.

    The garbage collector does not run meanwhile. It would look at every object that the work created, which takes up to
    40 ms, and no thread could run until then.
    """
    return await asyncio.to_thread(_paused, partial(work, *args, **kwargs))


def _paused(work: Callable[[], T]) -> T:
    with collection_paused():
        return work()


@contextmanager
def collection_paused() -> Iterator[None]:
    """The garbage collector is off in the block, and in blocks of other threads that begin before it ends."""
    global _pauses, _was_enabled
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()
