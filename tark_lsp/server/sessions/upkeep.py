"""Background tasks for stored sessions: renews the leases of this process, and deletes old sessions."""

import asyncio
from collections.abc import Callable, Container

from tark_lsp.server.sessions.retention import retire
from tark_lsp.sessions.leases import RENEWAL_SECONDS
from tark_lsp.sessions.store import SessionStore


class SessionUpkeep:
    """Each task starts when it is first needed."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._beating: asyncio.Task[None] | None = None
        self._retiring: asyncio.Task[None] | None = None

    def renew_leases(self, lost: Callable[[str], None]) -> None:
        """Starts to renew leases. `lost(session_id)` is called for each session that another process took over."""
        if self._beating is None:
            self._beating = asyncio.create_task(self._beat(lost))

    def delete_old(self, days: int | None, kept: Container[str]) -> None:
        """Deletes sessions that were not used for `days`, except `kept`, once per server. If `days` is None, deletes
        none."""
        if self._retiring is None and days is not None:
            self._retiring = asyncio.create_task(retire(self._store, days, kept))

    def stop(self) -> None:
        for task in (self._beating, self._retiring):
            if task is not None:
                task.cancel()

    async def _beat(self, lost: Callable[[str], None]) -> None:
        while True:
            await asyncio.sleep(RENEWAL_SECONDS)
            for session_id in self._store.renew_leases():
                lost(session_id)
