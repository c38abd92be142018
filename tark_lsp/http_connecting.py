"""Connects again if this process was late, not the server.

If this process gets no CPU time for seconds, or its event loop is blocked, the time limit of a connection ends before
the process notices that it is connected. On a busy machine, many requests that start together fail in this way.
"""

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

LATE_SECONDS = 0.25
"""If a time limit ends this much too late, the timeout says nothing about the server."""

TRIES = 4


async def connect_unless_late(send: Callable[[], Awaitable[T]], timeout: type[Exception], seconds: float) -> T:
    """`send` raises `timeout` if it is not connected within `seconds`."""
    for _ in range(TRIES - 1):
        began = time.monotonic()
        try:
            return await send()
        except timeout:
            if time.monotonic() - began < seconds + LATE_SECONDS:
                raise
    return await send()
