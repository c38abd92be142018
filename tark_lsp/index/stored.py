"""Reads the status of a stored index without the index process, for `tark-lsp index`."""

import sqlite3
from pathlib import Path

from tark_lsp.index.cache_folder import bytes_in
from tark_lsp.index.disk_index import DATABASE
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.index.store import Store


def read_stored(folder: Path) -> IndexStatus | None:
    """`folder`: that of `workspace_cache`. None if nothing is stored. The state is `failed` if it cannot be read."""
    if not (folder / DATABASE).exists():
        return None
    size = bytes_in(folder)
    try:
        store = Store(folder / DATABASE, writable=False)
        try:
            totals, was_compared = store.totals(), store.queue.was_compared
        finally:
            store.close()
    except (sqlite3.Error, OSError) as error:
        reason = f"the stored index cannot be read: {error}; your next prompt or `tark-lsp index rebuild` rebuilds it"
        return IndexStatus(IndexState.FAILED, bytes_on_disk=size, reason=reason)
    return IndexStatus(
        IndexState.READY if was_compared and not totals.work else IndexState.BUILDING,
        files=totals.files,
        indexed=totals.done,
        chunks=totals.chunks,
        definitions=totals.definitions,
        bytes_on_disk=size,
        skipped=totals.skipped,
    )
