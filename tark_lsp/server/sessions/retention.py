"""Deletes old sessions (`sessions.retentionDays`)."""

import asyncio
import time
from collections.abc import Container, Sequence

from tark_lsp.sessions.rows import SessionHeld, SessionRow
from tark_lsp.sessions.store import SessionStore

DAY_SECONDS = 86_400.0


async def retire(store: SessionStore, days: int, kept: Container[str]) -> None:
    """Delete the old sessions, except those that are in `kept` at the time of their deletion."""
    for row in old(store.list_sessions(), days, time.time()):
        await asyncio.sleep(0)  # so that other tasks can run in between
        # It may have been used meanwhile. That is checked while this process holds the lease.
        if row.id in kept or store.acquire_lease(row.id) is not None:
            continue
        now = store.find_session(row.id)
        if now is None or now.updated != row.updated:
            store.release_leases(row.id)
            continue
        try:
            store.delete_session(row.id)
        except SessionHeld:
            continue


def old(rows: Sequence[SessionRow], days: int, now: float) -> list[SessionRow]:
    """The sessions that were not used in the `days` before the last use of any session. `now` is a Unix time.

    So a machine that was off for a year deletes nothing. A clock that jumps years ahead deletes nothing either: after a
    gap longer than `days`, a use counts only if there was another use at least half a day apart from it.
    """
    span = days * DAY_SECONDS
    since: list[float] = []
    for used in sorted((row.updated for row in rows if row.updated <= now), reverse=True):
        if since and since[-1] - used > span:
            if since[0] - since[-1] >= DAY_SECONDS / 2:
                break
            since.clear()
        since.append(used)
    return [row for row in rows if since and since[0] - row.updated > span]
