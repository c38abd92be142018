"""Stores undecided hunks for the next server, whenever hunks of a file are proposed or decided."""

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tark_lsp.review.decisions import Reviews
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.sessions.hunks import LARGEST_TEXT, HunkRows, KeptHunk, KeptText
from tark_lsp.workspace.snapshot import digest_of

log = logging.getLogger(__name__)

KEPT_STATES = frozenset({"pending", "conflict"})


class HunkKeeper:
    def __init__(self, rows: HunkRows, reviews: Reviews, warn: Callable[[str], None]) -> None:
        """`warn(message)` tells the user that something went wrong."""
        self.rows = rows
        self._reviews = reviews
        self._warn = warn
        self._warned = False
        self._kept: dict[Path, list[KeptText]] = {}
        """The content of the stored rows, without the texts."""

    def keep_file(self, path: Path) -> None:
        """Store the hunks of the file after they were proposed or decided."""
        with self.failures_logged():
            before = self._kept.get(path, [])
            texts = self._without_decided(path, before)
            if texts is None:
                texts = _joined(
                    _kept_text(path, text, kept)
                    for text, hunks in self._reviews.places.texts_of_hunks(path)
                    if (kept := [_kept_hunk(hunk, hunk.start, hunk.size) for hunk in in_order(hunks) if is_kept(hunk)])
                )
            if texts == before:
                return
            self.rows.replace_rows(path, texts)
            if texts:
                self._kept[path] = [replace(text, text=None) for text in texts]
            else:
                self._kept.pop(path, None)

    def adopt_texts(self, texts: Iterable[KeptText]) -> None:
        """Take over the rows of an earlier server."""
        for text in texts:
            self._kept[text.path] = _joined([*self._kept.get(text.path, ()), replace(text, text=None)])

    @contextlib.contextmanager
    def failures_logged(self) -> Iterator[None]:
        """Log failures inside it, so that no decision fails. The store itself reports its problems."""
        try:
            yield
        except Exception as error:  # a bug in Tark
            log.exception("undecided hunks could not be kept or restored")
            if not self._warned:
                self._warned = True
                self._warn(f"Tark: undecided changes may be lost when Tark stops ({type(error).__name__}: {error})")

    def _without_decided(self, path: Path, before: Sequence[KeptText]) -> list[KeptText] | None:
        """The kept texts without the decided hunks; None if there are new hunks, or any of them changed.

        The stored text does not have to be the current text, and it is not written again, because that takes time for a
        long text. But if a decided hunk touched a remaining hunk, only the current text shows the place of the latter.
        """
        hunks = {hunk.id: hunk for hunk in self._reviews.hunks.find_hunks(path) if is_kept(hunk)}
        known = {kept.id: kept for text in before for kept in text.hunks}
        if any(hunk.id not in known or not _is_as_kept(hunk, known[hunk.id]) for hunk in hunks.values()):
            return None
        decided = [kept for kept_id, kept in known.items() if kept_id not in hunks]
        if any(_touch(kept, other) for kept in decided for other in known.values() if other.id in hunks):
            return None
        left = (replace(text, hunks=tuple(kept for kept in text.hunks if kept.id in hunks)) for text in before)
        return [text for text in left if text.hunks]


def in_order(hunks: Iterable[ReviewHunk]) -> list[ReviewHunk]:
    """The hunks in the order of their places, so that the next server knows which of two at one place is above."""
    return sorted(hunks, key=lambda hunk: hunk.place)


def is_kept(hunk: ReviewHunk) -> bool:
    return hunk.state in KEPT_STATES


def _kept_hunk(hunk: ReviewHunk, start: int, size: int) -> KeptHunk:
    """The hunk with its place in the text that is stored with it."""
    return KeptHunk(
        id=hunk.id,
        turn_id=hunk.turn_id,
        start=start,
        size=size,
        old=hunk.old,
        new=hunk.new,
        state=hunk.state,
        reason=hunk.reason,
        applied=hunk.applied,
        created=hunk.created,
        of_file=hunk.had_file,
        outside_selection=hunk.outside_selection,
        whole=hunk.group,
        operation=hunk.operation,
        source=str(hunk.source),
        target=None if hunk.target is None else str(hunk.target),
    )


def _touch(one: KeptHunk, other: KeptHunk) -> bool:
    return one.start <= other.start + other.size and other.start <= one.start + one.size


def _is_as_kept(hunk: ReviewHunk, kept: KeptHunk) -> bool:
    """Is the hunk as it was stored, except for its place?"""
    return _kept_hunk(hunk, kept.start, kept.size) == kept


def _kept_text(path: Path, text: str, hunks: Sequence[KeptHunk]) -> KeptText:
    return KeptText(path, digest_of(text), text if len(text) <= LARGEST_TEXT else None, tuple(hunks))


def _joined(texts: Iterable[KeptText]) -> list[KeptText]:
    """Merges entries with the same text."""
    found: dict[str, KeptText] = {}
    for text in texts:
        known = found.get(text.digest)
        found[text.digest] = text if known is None else replace(known, hunks=(*known.hunks, *text.hunks))
    return [*found.values()]
