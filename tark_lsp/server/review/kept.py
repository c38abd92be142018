"""Undecided hunks outlive the server: stored whenever a file's hunks come or are decided, brought back by the next one.

They come back once the editor has opened what it opens at its start, or as soon as a command needs them: a document
that is open stands for its file, and the disk for those that are closed.
"""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.server.documents.documents import DocumentEvent, Documents, Opened
from tark_lsp.server.review.hunks import GONE, ReviewHunk, State, by_turn
from tark_lsp.server.review.returning import bring_to, fade
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.sessions.hunks import LARGEST_TEXT, HunkRows, KeptHunk, KeptText
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.edits import Operation
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.snapshot import Snapshot, digest_of

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.3
"""After the last document was opened."""
KEPT_STATES = frozenset({"pending", "conflict"})
LONG = "the file is too long to tell where its lines are by now"


class KeptHunks:
    def __init__(
        self,
        rows: HunkRows,
        reviews: Reviews,
        workspace: Workspace,
        documents: Documents,
        checkpoints: Checkpoints,
        came_back: Callable[[str], None],
        tell: Callable[[str], None],
    ) -> None:
        """`came_back(turn_id)`: hunks of an earlier server's turn are here, and will be told of. `tell(message)`: what
        the person must know."""
        self._rows = rows
        self._reviews = reviews
        self._workspace = workspace
        self._documents = documents
        self._checkpoints = checkpoints
        self._came_back = came_back
        self._tell = tell
        self._said = False
        self._kept: dict[Path, list[KeptText]] = {}
        """What our rows say, but for the texts."""
        self._timer: asyncio.TimerHandle | None = None
        documents.listen(self._opened)

    def changed(self, path: Path) -> None:
        """Hunks of the file came or were decided."""
        with self._safely():
            self._keep(path)

    def _keep(self, path: Path) -> None:
        before = self._kept.get(path, [])
        texts = self._without_decided(path, before)
        if texts is None:
            texts = _joined(
                _kept_text(path, text, kept)
                for text, hunks in self._reviews.texts(path)
                if (kept := [_kept_hunk(each, each.start, each.size) for each in hunks if each.state in KEPT_STATES])
            )
        if texts == before:
            return
        self._rows.keep(path, texts)
        if texts:
            self._kept[path] = [replace(each, text=None) for each in texts]
        else:
            self._kept.pop(path, None)

    def _without_decided(self, path: Path, before: Sequence[KeptText]) -> list[KeptText] | None:
        """What was kept, less what is decided; None: there are others, or they are others than they were.

        A text of then does as well as that of now, and of a long one it is dear to keep each that it becomes.
        """
        hunks = {each.id: each for each in self._reviews.find(path) if each.state in KEPT_STATES}
        known = {each.id: each for text in before for each in text.hunks}
        if any(each.id not in known or not _is_as_kept(each, known[each.id]) for each in hunks.values()):
            return None
        left = (replace(text, hunks=tuple(each for each in text.hunks if each.id in hunks)) for text in before)
        return [text for text in left if text.hunks]

    def soon(self) -> None:
        """The editor may be about to open documents of which there are hunks."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._rows.there_are_any:
            self._timer = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self.bring_back)

    def now(self) -> None:
        """Whatever is to come back soon."""
        if self._timer is not None:
            self.bring_back()

    def bring_back(self) -> None:
        """The hunks of servers that are gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._rows.there_are_any:
            with self._safely():
                self._take()

    def _take(self) -> None:
        found = self._rows.take(lambda path: self._workspace.is_inside(path) or self._documents.at(path) is not None)
        moved = self._moved(found)
        places: defaultdict[Path, list[KeptText]] = defaultdict(list)
        for each in found:
            self._kept[each.path] = _joined([*self._kept.get(each.path, ()), replace(each, text=None)])
            places[moved.get(each.path, each.path)].append(each)
        for path, texts in places.items():
            self._revive(path, texts)
        for path in moved:
            self._keep(path)  # nothing is any more

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @contextlib.contextmanager
    def _safely(self) -> Iterator[None]:
        """What the store cannot do it says itself."""
        try:
            yield
        except Exception as error:  # a defect of ours: nobody's decision is to fail because it cannot be kept
            log.exception("undecided hunks could not be kept or brought back")
            if not self._said:
                self._said = True
                self._tell(f"Tark: undecided changes may be lost at the end ({type(error).__name__}: {error})")

    def _opened(self, event: DocumentEvent) -> None:
        if isinstance(event, Opened):
            self.soon()

    def _moved(self, found: Sequence[KeptText]) -> Mapping[Path, Path]:
        """Where files are that were being moved, or moved back, when their server ended."""
        moves = ((each.path, hunk) for each in found for hunk in each.hunks if hunk.operation == "move")
        places = ((path, Path(hunk.source if hunk.applied else hunk.target or "")) for path, hunk in moves)
        return {path: place for path, place in places if not self._is_there(path) and self._is_there(place)}

    def _is_there(self, path: Path) -> bool:
        document = self._documents.at(path)
        return path.exists() or (document is not None and bool(document.text))

    def _revive(self, path: Path, texts: Sequence[KeptText]) -> None:
        try:
            now = self._read(path)
        except WorkspaceError as error:
            now = Snapshot(path, "", exists=False)
            problem = error.message
        else:
            problem = "" if self._is_there(path) else GONE
        hunks: list[ReviewHunk] = []
        for kept in texts:
            some = [_review_hunk(each, path, moved=path != kept.path) for each in kept.hunks]
            hunks += some
            for each in some:
                if problem and not (problem is GONE and _needs_no_file(each)):
                    fade(each, problem)
            self._bring_to(now, kept, [each for each in some if each.state in KEPT_STATES])
        for turn_id in by_turn(hunks):
            self._came_back(turn_id)
        # In a file that is gone they stay where they were, for when it is back.
        self._reviews.bring_back(path, hunks, (texts[0].text or "") if problem is GONE else now.text)

    def _bring_to(self, now: Snapshot, kept: KeptText, hunks: Sequence[ReviewHunk]) -> None:
        applied = [each for each in hunks if each.applied and not each.operation]
        then = kept.text
        if then is None and digest_of(now.text) == kept.digest:
            then = now.text
        if then is None:
            for each in hunks:
                if each.operation != "move":
                    fade(each, LONG)
            return
        bring_to(hunks, then, now.text, exists=self._is_there(now.path))
        for each in applied:
            if not each.applied and self._was_undone(each):
                each.state, each.reason = "rejected", "the turn was undone"

    def _read(self, path: Path) -> Snapshot:
        """Raises WorkspaceError, also where a link leads from there to another file."""
        try:
            now = self._workspace.read(path)
        except FileMissing:
            return Snapshot(path, "", exists=False)
        if now.path != path:
            raise WorkspaceError("there is a link where the file was")
        return now

    def _was_undone(self, each: ReviewHunk) -> bool:
        """Did the person take the whole turn back in this file, say by `tark-lsp undo`?"""
        histories = self._checkpoints.histories(each.turn_id)
        ours = [history for history in histories if each.path in (history.place, history.origin)]
        return bool(ours) and all(history.undone for history in ours)


def _kept_hunk(each: ReviewHunk, start: int, size: int) -> KeptHunk:
    """With its place in the text that it is kept with."""
    return KeptHunk(
        each.id,
        each.turn_id,
        start,
        size,
        each.hunk.old,
        each.new,
        each.state,
        each.reason,
        each.applied,
        each.created,
        each.of_file,
        each.outside_selection,
        each.whole,
        each.operation,
        str(each.source),
        None if each.target is None else str(each.target),
    )


def _joined(texts: Iterable[KeptText]) -> list[KeptText]:
    """Those that are the same text are one."""
    found: dict[str, KeptText] = {}
    for each in texts:
        known = found.get(each.digest)
        found[each.digest] = each if known is None else replace(known, hunks=(*known.hunks, *each.hunks))
    return [*found.values()]


def _is_as_kept(each: ReviewHunk, kept: KeptHunk) -> bool:
    """Wherever it stands by now."""
    return _kept_hunk(each, kept.start, kept.size) == kept


def _needs_no_file(each: ReviewHunk) -> bool:
    return not each.of_file or (each.operation == "remove" and each.applied)


def _kept_text(path: Path, text: str, hunks: Sequence[KeptHunk]) -> KeptText:
    return KeptText(path, digest_of(text), text if len(text) <= LARGEST_TEXT else None, tuple(hunks))


def _review_hunk(kept: KeptHunk, path: Path, *, moved: bool) -> ReviewHunk:
    """`moved`: the file was, though the server did not live to see it."""
    each = ReviewHunk(
        kept.turn_id,
        path,
        Hunk(kept.start, kept.old, kept.new),
        kept.start,
        kept.new,
        kept.outside_selection,
        cast("Operation", kept.operation),
        None if kept.target is None else Path(kept.target),
        kept.whole,
        kept.of_file,
        kept.applied,
        state=cast("State", kept.state),
        reason=kept.reason,
        created=kept.created,
        id=kept.id,
    )
    each.size, each.source = kept.size, Path(kept.source)
    if each.operation == "move" and moved:
        each.applied = not each.applied
    return each
