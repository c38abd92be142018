"""Locks that make decisions about one file run one after another."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.store import HunkStore


class FileLocks:
    def __init__(self, store: HunkStore) -> None:
        self._store = store
        self._locks: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)

    @contextlib.asynccontextmanager
    async def hold_files(self, paths: Iterable[Path]) -> AsyncIterator[None]:
        """Lock these files: nothing else is decided in them, and no other edit by Tark is on its way to them.

        What is undone in them meanwhile does not count as the user's own undo.
        """
        ordered = sorted({*paths})
        async with contextlib.AsyncExitStack() as locks:
            for path in ordered:
                await locks.enter_async_context(self._locks[path])
            with self._store.hold_applied(ordered):
                yield

    @contextlib.asynccontextmanager
    async def hold_hunks(self, hunk_ids: Sequence[str]) -> AsyncIterator[None]:
        """`hold_files` for the files of the hunks, even if they are moved while it waits."""
        while True:
            held = files_of(self._store.get_hunks(hunk_ids))
            async with self.hold_files(held):
                if held == files_of(self._store.get_hunks(hunk_ids)):
                    yield
                    return


def files_of(hunks: Iterable[ReviewHunk]) -> set[Path]:
    """The current, former and future paths of their files."""
    return {path for hunk in hunks for path in (hunk.path, hunk.source, hunk.target) if path is not None}
