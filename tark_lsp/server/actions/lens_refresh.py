"""Asks the client to request code lenses again (`workspace/codeLens/refresh`)."""

import asyncio
import contextlib

from tark_lsp.server.connection.lsp import Connection, RequestFailed

JOIN_SECONDS = 0.02


class LensRefresh:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._refreshing: asyncio.Task[None] | None = None

    def refresh(self) -> None:
        """Does nothing if the client has no such request. Several calls at once become one request."""
        if self._refreshing is None and self._connection.client.has("workspace.codeLens.refreshSupport"):
            self._refreshing = asyncio.ensure_future(self._refresh())

    async def _refresh(self) -> None:
        await asyncio.sleep(JOIN_SECONDS)
        self._refreshing = None
        with contextlib.suppress(RequestFailed):  # the server does not depend on what the client draws
            await self._connection.request("workspace/codeLens/refresh")
