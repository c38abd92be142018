"""Handles saves of files with hunks: lines that a formatter changed become part of their hunks. In some clients, a save
by the user also accepts the hunks.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tark_lsp.errors import WorkspaceError
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.formatting import BeforeSave, Place, find_formatted, overlaps
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.life import Event, Life
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.documents import Closed, DocumentEvent, Documents, Saved, WillSave
from tark_lsp.workspace.outcomes import Applied


class Saves:
    def __init__(self, reviews: Reviews, documents: Documents, checkpoints: Checkpoints, *, accepts: bool) -> None:
        """`accepts`: a save by the user accepts applied hunks. In clients that review in place, no save decides
        anything."""
        self._reviews = reviews
        self._hunks = reviews.hunks
        self._checkpoints = checkpoints
        self._accepts = accepts
        self._before: dict[Path, BeforeSave] = {}
        documents.listen(self._on_document_event)

    def _on_document_event(self, event: DocumentEvent) -> None:
        path = event.document.path
        if path is None or isinstance(event, Closed):
            self._before.pop(path or Path(), None)
            return
        if not self._reviews.places.is_followed(path) or path in self._reviews.writer.operating:
            return
        match event:
            case WillSave():
                self._look_before(path)
            case Saved(by_hand=by_hand):
                self._adopt_format(path)
                if by_hand and self._accepts:
                    self._accept(path)
            case _:
                pass

    def _look_before(self, path: Path) -> None:
        lines = self._lines(path)
        applied = [hunk for hunk in self._hunks.find_hunks(path) if hunk.life is Life.APPLIED and not hunk.operation]
        self._before[path] = BeforeSave(lines, {hunk.id: (hunk.start, hunk.end) for hunk in applied})

    def _adopt_format(self, path: Path) -> None:
        """The lines that a formatter changed become the new lines of their hunks."""
        lines, before = self._lines(path), self._before.pop(path, None)
        hunks = [hunk for hunk in self._hunks.find_hunks(path) if hunk.undecided and not hunk.operation]
        taken = {hunk.id: (hunk.start, hunk.end) for hunk in hunks}
        found: list[tuple[ReviewHunk, Place]] = []
        for hunk in hunks:
            if hunk.life is not Life.TYPED_OVER or hunk.id in self._hunks.held:
                continue
            place = before.place_now(hunk.id, lines) if before is not None else None
            place = place or find_formatted(hunk.new, lines, (hunk.start, hunk.end))
            if place is None or tuple(lines[slice(*place)]) == hunk.old:
                continue
            if not overlaps(place, (other for hunk_id, other in taken.items() if hunk_id != hunk.id)):
                taken[hunk.id] = place
                found.append((hunk, place))
        if found:
            self._record(path, lines, found)
            for hunk, (start, end) in found:
                self._hunks.replace_hunk(replace(hunk, new=tuple(lines[start:end])).apply(Event.FORMATTED, start=start))
            self._reviews.report_changed(path)

    def _record(self, path: Path, lines: Sequence[str], found: Sequence[tuple[ReviewHunk, Place]]) -> None:
        """Record the formatting as a change of the turn, so that undo of the turn undoes it, too."""
        try:
            now = self._reviews.current.read_text(path)
        except WorkspaceError:  # a file that cannot be read was not formatted
            return
        texts, after = [], [*lines]
        for hunk, (start, end) in sorted(found, key=lambda item: item[1], reverse=True):
            before = [*after]
            before[start:end] = hunk.new
            texts.append((hunk.turn_id, "".join(before), "".join(after)))
            after = before
        for turn_id, old, new in reversed(texts):
            self._checkpoints.settle_change(self._checkpoints.record_edit(turn_id, path, old, new), Applied(now))

    def _accept(self, path: Path) -> None:
        """Accept the applied hunks, with the user's changes in them.

        Not hunks that are being undone at that moment, since the user decided that before.
        """
        applied = [hunk for hunk in self._hunks.find_hunks(path) if hunk.applied and not hunk.life.in_flight]
        saved = [hunk for hunk in applied if hunk.undecided]
        self._hunks.apply_to_all(saved, Event.ACCEPTED)
        if saved:
            self._reviews.report_changed(path)

    def _lines(self, path: Path) -> Sequence[str]:
        """The current lines, after mapping the hunks to them."""
        self._reviews.places.sync(path)
        return self._reviews.current.read_lines(path) or ()
