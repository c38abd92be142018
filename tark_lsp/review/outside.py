"""Changes of files with hunks from outside the review: the user types, the editor moves files, a turn is undone."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tark_lsp.review.decisions import Reviews
from tark_lsp.review.events import HunksChanged, HunksMoved
from tark_lsp.review.following import follow_hunks, follow_undo
from tark_lsp.review.hunk import GONE, TURN_UNDONE, ReviewHunk, by_turn
from tark_lsp.review.life import Event, Life
from tark_lsp.review.text_change import TextChange
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.dry_run import Files
from tark_lsp.workspace.checkpoints.turn_undo import UndoResult
from tark_lsp.workspace.documents import Change, Closed, DocumentEvent, Documents, Opened
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.outcomes import Applied


class OutsideChanges:
    def __init__(self, reviews: Reviews, documents: Documents, checkpoints: Checkpoints) -> None:
        self._reviews = reviews
        self._hunks = reviews.hunks
        self._places = reviews.places
        self._checkpoints = checkpoints
        documents.listen(self._on_document_event)

    def confirm_hunks(self, path: Path, found: Sequence[tuple[str, Hunk]], before: str) -> None:
        """Record changes that the editor made by itself, because the user ticked them in its preview.

        Each id comes with the hunk as it is in the current text. `before`: that text without the changes.
        """
        now = self._reviews.current.read_text(path)
        for turn_id in by_turn(self._hunks.get_hunks(hunk_id for hunk_id, _ in found)):
            self._checkpoints.settle_change(
                self._checkpoints.record_edit(turn_id, path, before, now.text), Applied(now)
            )
        for hunk_id, part in found:
            hunk = self._hunks[hunk_id]
            self._hunks.replace_hunk(replace(hunk, new=part.new))
            self._hunks.apply_event(hunk_id, Event.CONFIRMED, start=part.start)
        self._reviews.report_changed(path)

    async def undo(self, turn_id: str, files: Files) -> UndoResult:
        """Undo the turn's changes while nothing else is decided in its files, and update its hunks."""
        paths = self._checkpoints.changed_paths(turn_id)
        async with self._reviews.locks.hold_files(paths):
            before = self._applied_hunks(turn_id, paths)
            undone = await self._checkpoints.undo(turn_id, files)
            kept = {path for path, _ in undone.kept}
            done = [path for path in (*undone.restored, *undone.left) if path not in kept]
            self.undo_turn(turn_id, self._without_commands(turn_id, done))
            self._undo_parts(kept & {*undone.restored}, before, undone.edits)
        return undone

    async def redo(self, turn_id: str, files: Files) -> UndoResult:
        """Redo what was undone of the turn. Its hunks in these files are accepted, so none of them waits."""
        async with self._reviews.locks.hold_files(self._checkpoints.changed_paths(turn_id)):
            redone = await self._checkpoints.redo(turn_id, files)
            kept = {path for path, _ in redone.kept}
            for path in self._without_commands(turn_id, {*redone.restored, *redone.left} - kept):
                self._places.sync(path)
                hunks = self._hunks.find_hunks(path, turn_id)
                self._hunks.apply_to_all([hunk for hunk in hunks if hunk.reason == TURN_UNDONE], Event.CONFIRMED)
                self._reviews.report_changed(path)
        return redone

    def undo_turn(self, turn_id: str, paths: Iterable[Path]) -> None:
        """Update the hunks after the whole turn was undone in these files by other means."""
        touched = {*paths}
        for hunk in self._hunks.find_hunks(turn_id=turn_id)[::-1]:
            # The file that the turn moved is back in its place; the hunks of other turns went there with it.
            if hunk.operation == "move" and hunk.applied and hunk.path in touched and not hunk.path.exists():
                touched.add(hunk.source)
                self._places.relocate_file(hunk.path, hunk.source)
                if hunk.life is not Life.ACCEPTED:
                    self._hunks.apply_event(hunk.id, Event.TAKEN_BACK)
        for path in touched:
            self._places.sync(path)
            for hunk in self._hunks.find_hunks(path, turn_id):
                if hunk.applied and hunk.undecided:
                    self._hunks.apply_event(hunk.id, Event.TURN_UNDONE, reason=TURN_UNDONE)
                elif hunk.life is Life.UNDONE:
                    self._hunks.apply_event(hunk.id, Event.TURN_UNDONE)
                else:
                    self._hunks.replace_hunk(replace(hunk, alarm=None))
            self._reviews.report_changed(path)

    def _without_commands(self, turn_id: str, paths: Iterable[Path]) -> list[Path]:
        """The paths without files that only commands changed. These can be thousands, and have no hunks."""
        by_command = {*self._checkpoints.commands.paths(turn_id)}
        return [path for path in paths if path not in by_command or self._hunks.find_hunks(path)]

    def _applied_hunks(self, turn_id: str, paths: Iterable[Path]) -> list[tuple[str, ReviewHunk]]:
        """The applied and undecided hunks of the turn, each with the text of its file."""
        for path in paths:
            self._places.sync(path)
        found = [(text, hunk) for path in paths for text, hunks in self._places.texts_of_hunks(path) for hunk in hunks]
        return [(text, hunk) for text, hunk in found if hunk.turn_id == turn_id and hunk.life is Life.APPLIED]

    def _undo_parts(
        self, paths: Collection[Path], before: Iterable[tuple[str, ReviewHunk]], edits: Sequence[ProposedEdit]
    ) -> None:
        """Update the hunks in files in which only a part of the turn was undone. The `edits` show which hunks.

        The hunks of `before` follow the edits step by step. With one change of the whole text, what the user typed
        beside a hunk meanwhile would hide its undo.
        """
        for path in paths:
            self._places.sync(path)
        by_text: defaultdict[tuple[Path, str], list[ReviewHunk]] = defaultdict(list)
        for text, hunk in before:
            now = self._hunks[hunk.id]
            if now.path in paths and now.applied and now.undecided:
                by_text[now.path, text].append(hunk)
        for (path, text), hunks in by_text.items():
            lines = self._reviews.current.read_lines(path)
            if lines is None:
                continue
            known = split_lines(text)
            for edit in (edit for edit in edits if edit.path == path):
                hunks = follow_hunks(hunks, TextChange.of_text(known, edit.base.lines))
                known = split_lines(edit.after)
                hunks = follow_undo(hunks, TextChange.of_text(edit.base.lines, known))
            for followed in follow_hunks(hunks, TextChange.of_text(known, lines)):
                if followed.life is Life.UNDONE:
                    self._hunks.apply_event(followed.id, Event.UNDONE, reason=TURN_UNDONE, start=followed.start)
        for path in paths:
            self._reviews.report_changed(path)

    def rename_file(self, source: Path, target: Path) -> None:
        """Move the hunks after the editor moved a file, or a folder with its files."""
        for path in self._below(source):
            there = target / path.relative_to(source)
            self._places.relocate_file(path, there)
            for hunk in self._hunks.find_hunks(there):
                # The editor closed it at the old place before it reported the new one.
                if hunk.state == "stale" and hunk.reason == GONE:
                    self._reviews.retry_hunk(hunk.id)
            self._reviews.events.emit(HunksChanged(path))
            self._reviews.events.emit(HunksChanged(there))

    def delete_file(self, path: Path) -> None:
        """Update the hunks after the editor removed a file or a folder."""
        for file in self._below(path):
            self._places.sync(file)
            self._reviews.report_changed(file)

    def _below(self, path: Path) -> set[Path]:
        """Files with hunks, except for files that Tark itself is moving or removing."""
        found = {hunk.path for hunk in self._hunks.find_hunks() if hunk.path.is_relative_to(path)}
        return found - self._reviews.writer.operating

    def _on_document_event(self, event: DocumentEvent) -> None:
        path = event.document.path
        if path is None or not self._places.is_followed(path) or path in self._reviews.writer.operating:
            return
        match event:
            case Change():
                self._places.follow_change(path, event)
                self._reviews.events.emit(HunksMoved(path))
            case Opened() | Closed() if path not in self._places.unsure:
                self._places.sync(path)
                self._reviews.events.emit(HunksMoved(path))
            case _:
                pass
