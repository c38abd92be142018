"""Connects again if it was this process that was late, and not the server.

If this process gets no processor for seconds, or its event loop stands still, the time limit of a connection ends
before the process can see that it is connected. Many requests that start together on a busy machine fail that way.
"""

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

LATE_SECONDS = 0.25
"""A limit that ends so much later than it should says nothing about the server."""

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
