"""Deletes old sessions (`sessions.retentionDays`)."""

import asyncio
import time
from collections.abc import Container, Sequence

from tark_lsp.sessions.rows import SessionHeld, SessionRow
from tark_lsp.sessions.store import SessionStore

DAY_SECONDS = 86_400.0


async def retire(store: SessionStore, days: int, kept: Container[str]) -> None:
    """Delete the old sessions, except for those that are in `kept` when their turn comes."""
    for row in old(store.list_sessions(), days, time.time()):
        await asyncio.sleep(0)  # so that other tasks need not wait for all of them
        # It may have been used meanwhile, here or elsewhere: checked once no other process can write it.
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
    """Those that were not used for `days` before the last use of any session. `now` is in seconds since 1970.

    So a machine that was off for a year deletes nothing. Nor does a clock that jumped years ahead: after a gap longer
    than `days`, a use counts only if there was another one half a day apart.
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
