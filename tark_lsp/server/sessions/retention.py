"""Which stored sessions are old enough to go (`sessions.retentionDays`)."""

import time
from collections.abc import Container

from tark_lsp.sessions.rows import SessionHeld
from tark_lsp.sessions.store import SessionStore

DAY_SECONDS = 86_400.0


def delete_old(store: SessionStore, days: int | None, kept: Container[str]) -> None:
    """Those that were not used for `days` before the last use of any; None: nothing goes.

    Counted so, a clock that jumped years ahead, or a machine that was off for a year, deletes nothing.
    """
    if days is None:
        return
    rows = [row for row in store.sessions() if row.id not in kept]
    last = min(time.time(), max((row.updated for row in rows), default=0.0))
    for row in rows:
        if last - row.updated > days * DAY_SECONDS:
            try:
                store.delete(row.id)
            except SessionHeld:  # in use elsewhere, so not old
                continue
