"""Closes what httpcore 1.0 leaves open if the task of a request is cancelled at the wrong moment.

A cancel between connect and first byte leaves a connection that no request owns: it is never used again, and never
closed. A cancel while a response is closed leaves its connection in use forever.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

_closing: set["asyncio.Task[None]"] = set()
"""Keeps the tasks alive: the event loop holds only weak references."""


async def close_orphans(client: Any) -> None:
    """`client` is an `httpx.AsyncClient`. Call this after a request was cancelled."""
    transports = [client._transport, *filter(None, client._mounts.values())]
    for pool in filter(None, (getattr(transport, "_pool", None) for transport in transports)):
        owned = {id(request.connection) for request in pool._requests}
        for connection in [*pool.connections]:
            if id(connection) not in owned and not connection.is_idle() and not connection.is_closed():
                pool._connections.remove(connection)
                await connection.aclose()


def closed_whole(close: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], Awaitable[None]]:
    """Wrap `close` so that it runs to its end, even if its caller is cancelled."""

    async def closing() -> None:
        task = asyncio.create_task(close())
        _closing.add(task)
        task.add_done_callback(_closing.discard)
        await asyncio.shield(task)

    return closing
