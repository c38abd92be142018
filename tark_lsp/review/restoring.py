"""Restores undecided hunks of earlier servers, as long as their places can be found.

They are restored when the editor has opened its documents at startup, or as soon as a command needs them. For an open
document, its text counts; a closed file is read from the disk.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.hunk import GONE, TURN_UNDONE, ReviewHunk, by_turn
from tark_lsp.review.keeping import HunkKeeper, is_kept
from tark_lsp.review.life import Event, Life
from tark_lsp.review.restored_places import find_places
from tark_lsp.sessions.hunks import KeptHunk, KeptText
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.documents import DocumentEvent, Documents, Opened
from tark_lsp.workspace.edits import Operation
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.snapshot import Snapshot, digest_of

PAUSE_SECONDS = 0.3
"""After the last document was opened."""
TOO_LONG = "the file is too long to tell where its lines are by now"
LIVES = {
    ("pending", False): Life.PROPOSED,
    ("pending", True): Life.APPLIED,
    ("conflict", False): Life.CONFLICT,
    ("conflict", True): Life.TYPED_OVER,
}
"""By the stored facts of a hunk: its state in the protocol, and whether it is applied. Other states have failed."""


class HunkRestorer:
    def __init__(
        self,
        keeper: HunkKeeper,
        reviews: Reviews,
        workspace: Workspace,
        documents: Documents,
        checkpoints: Checkpoints,
        came_back: Callable[[str], None],
    ) -> None:
        """`came_back(turn_id)`: hunks of an earlier server's turn were restored; reports of changes follow."""
        self._keeper = keeper
        self._reviews = reviews
        self._workspace = workspace
        self._documents = documents
        self._checkpoints = checkpoints
        self._came_back = came_back
        self._timer: asyncio.TimerHandle | None = None
        documents.listen(self._on_document_event)

    def restore_soon(self) -> None:
        """Restore hunks after a delay, because the editor may be about to open documents with hunks."""
        self.stop()
        if self._keeper.rows.any_exist:
            self._timer = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self.restore_now)

    def restore_if_due(self) -> None:
        """Restore now what `restore_soon` would restore later."""
        if self._timer is not None:
            self.restore_now()

    def restore_now(self) -> None:
        self.stop()
        if self._keeper.rows.any_exist:
            with self._keeper.failures_logged():
                self._restore()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _restore(self) -> None:
        found = self._keeper.rows.take_over_rows(
            lambda path: self._workspace.is_inside(path) or self._documents.at(path) is not None
        )
        self._keeper.adopt_texts(found)
        moved = self._moved_files(found)
        texts_by_path: defaultdict[Path, list[KeptText]] = defaultdict(list)
        for kept in found:
            texts_by_path[moved.get(kept.path, kept.path)].append(kept)
        for path, texts in texts_by_path.items():
            self._restore_file(path, texts)
        for path in moved:
            self._keeper.keep_file(path)  # which has no hunks any more

    def _on_document_event(self, event: DocumentEvent) -> None:
        if isinstance(event, Opened):
            self.restore_soon()

    def _moved_files(self, found: Sequence[KeptText]) -> Mapping[Path, Path]:
        """The current paths of files that were being moved, or moved back, when their server ended."""
        moves = ((kept.path, hunk) for kept in found for hunk in kept.hunks if hunk.operation == "move")
        places = ((path, Path(hunk.source if hunk.applied else hunk.target or "")) for path, hunk in moves)
        return {path: place for path, place in places if not self._exists(path) and self._exists(place)}

    def _exists(self, path: Path) -> bool:
        document = self._documents.at(path)
        return path.exists() or (document is not None and bool(document.text))

    def _restore_file(self, path: Path, texts: Sequence[KeptText]) -> None:
        try:
            now = self._read(path)
        except WorkspaceError as error:
            now = Snapshot(path, "", exists=False)
            problem = error.message
        else:
            problem = "" if self._exists(path) else GONE
        hunks: list[ReviewHunk] = []
        for kept in texts:
            hunks += self._find_places(now, kept, problem)
        for turn_id in by_turn(hunks):
            self._came_back(turn_id)
        # Hunks of a file that is gone keep their places, in case it comes back.
        self._reviews.add_hunks(path, hunks, Snapshot(path, texts[0].text or "") if problem is GONE else now)

    def _find_places(self, now: Snapshot, kept: KeptText, problem: str) -> list[ReviewHunk]:
        """The hunks of a stored text. `problem`: why its file cannot be read, or does not exist."""
        moved = now.path != kept.path
        hunks = [_review_hunk(hunk, kept, order, now.path, moved=moved) for order, hunk in enumerate(kept.hunks)]
        if problem:
            hunks = [
                hunk if problem is GONE and _needs_no_file(hunk) else hunk.apply(Event.FAILED, reason=problem)
                for hunk in hunks
            ]
        then = kept.text
        if then is None and digest_of(now.text) == kept.digest:
            then = now.text
        if then is None:
            return [
                hunk.apply(Event.FAILED, reason=TOO_LONG) if is_kept(hunk) and hunk.operation != "move" else hunk
                for hunk in hunks
            ]
        placed = find_places([hunk for hunk in hunks if is_kept(hunk)], then, now.text, exists=self._exists(now.path))
        current = {hunk.id: hunk for hunk in placed}
        return [self._without_undone_turn(hunk, current.get(hunk.id, hunk)) for hunk in hunks]

    def _without_undone_turn(self, before: ReviewHunk, after: ReviewHunk) -> ReviewHunk:
        """The hunk `after`, whose place was found. It is rejected if it was applied and its turn was undone since."""
        taken_back = before.applied and not after.applied and not before.operation
        return after.apply(Event.REJECTED, reason=TURN_UNDONE) if taken_back and self._was_undone(after) else after

    def _read(self, path: Path) -> Snapshot:
        """Raises WorkspaceError, also if the path is a link to another file."""
        try:
            now = self._workspace.read(path)
        except FileMissing:
            return Snapshot(path, "", exists=False)
        if now.path != path:
            raise WorkspaceError("there is a link where the file was")
        return now

    def _was_undone(self, hunk: ReviewHunk) -> bool:
        """Did the user undo the whole turn in this file, for example by `tark-lsp undo`?"""
        histories = self._checkpoints.histories(hunk.turn_id)
        ours = [history for history in histories if hunk.path in (history.place, history.origin)]
        return bool(ours) and all(history.undone for history in ours)


def _needs_no_file(hunk: ReviewHunk) -> bool:
    return not hunk.had_file or (hunk.operation == "remove" and hunk.applied)


def _review_hunk(kept: KeptHunk, of: KeptText, order: int, path: Path, *, moved: bool) -> ReviewHunk:
    """`order`: its number among the hunks of that text. `moved`: the file was moved, or moved back, but its server
    ended before it knew."""
    applied = kept.applied is not (kept.operation == "move" and moved)
    return ReviewHunk(
        id=kept.id,
        turn_id=kept.turn_id,
        proposed=Hunk(kept.start, kept.old, kept.new, order),
        base=of.digest,
        origin=path,
        path=path,
        source=Path(kept.source),
        operation=cast("Operation", kept.operation),
        target=None if kept.target is None else Path(kept.target),
        group=kept.whole,
        had_file=kept.of_file,
        outside_selection=kept.outside_selection,
        start=kept.start,
        size=kept.size,
        old=kept.old,
        new=kept.new,
        life=LIVES.get((kept.state, applied), Life.STUCK if applied else Life.FAILED),
        reason=kept.reason,
        created=kept.created,
    )
