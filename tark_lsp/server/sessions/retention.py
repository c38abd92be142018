"""Old sessions go (`sessions.retentionDays`)."""

import asyncio
import time
from collections.abc import Container, Sequence

from tark_lsp.sessions.rows import SessionHeld, SessionRow
from tark_lsp.sessions.store import SessionStore

DAY_SECONDS = 86_400.0


async def retire(store: SessionStore, days: int, kept: Container[str]) -> None:
    """Delete those that are old, but for these."""
    for row in old([row for row in store.sessions() if row.id not in kept], days, time.time()):
        try:
            store.delete(row.id)
        except SessionHeld:  # in use elsewhere, so not old
            continue
        await asyncio.sleep(0)  # others are not to wait for all of them


def old(rows: Sequence[SessionRow], days: int, now: float) -> list[SessionRow]:
    """Those that were not used for `days` before the last use of any. `now` in seconds since 1970.

    Counted so, a clock that jumped years ahead, or a machine that was off for a year, deletes nothing.
    """
    last = min(now, max((row.updated for row in rows), default=0.0))
    return [row for row in rows if last - row.updated > days * DAY_SECONDS]
