"""Old sessions go (`sessions.retentionDays`)."""

import asyncio
import time
from collections.abc import Container, Sequence

from tark_lsp.sessions.rows import SessionHeld, SessionRow
from tark_lsp.sessions.store import SessionStore

DAY_SECONDS = 86_400.0


async def retire(store: SessionStore, days: int, kept: Container[str]) -> None:
    """Delete those that are old, but for these, whichever they are by then."""
    for row in old(store.sessions(), days, time.time()):
        await asyncio.sleep(0)  # others are not to wait for all of them
        # Used since, here or elsewhere: looked at when nobody else can write it any more.
        if row.id in kept or store.take(row.id) is not None:
            continue
        now = store.session(row.id)
        if now is None or now.updated != row.updated:
            store.release(row.id)
            continue
        try:
            store.delete(row.id)
        except SessionHeld:
            continue


def old(rows: Sequence[SessionRow], days: int, now: float) -> list[SessionRow]:
    """Those that were not used for `days` before the last use of any. `now` in seconds since 1970.

    Counted so, a machine that was off for a year deletes nothing. Nor does a clock that jumped years ahead: after a gap
    longer than `days` a use counts only once there was another one half a day apart.
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
