"""A hunk as a test looks at it: its id, with the current value's facts."""

from pathlib import Path
from typing import Any

from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.store import HunkStore


class LiveHunk(str):
    """The id of a hunk. Every other attribute is read from the store when it is asked for."""

    store: HunkStore

    @classmethod
    def of(cls, store: HunkStore, hunk_id: str) -> "LiveHunk":
        hunk = cls(hunk_id)
        hunk.store = store
        return hunk

    @property
    def now(self) -> ReviewHunk:
        (hunk,) = self.store.get_hunks([self])
        return hunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now, name)


def find_live(store: HunkStore, path: Path | None = None, turn_id: str | None = None) -> list[LiveHunk]:
    return [LiveHunk.of(store, hunk.id) for hunk in store.find_hunks(path, turn_id)]
