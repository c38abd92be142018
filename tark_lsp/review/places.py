"""Keeps the places of all hunks up to date: with documents, with files that change unseen, and with moved files.

A hunk moves with the text by line changes: the changes in the region that a change event of the editor touches, or the
changes of the whole text if it changed unseen (a closed file, a document that is opened again).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tark_lsp.errors import WorkspaceError
from tark_lsp.review.following import NOTHING, FollowedText, follow_beside
from tark_lsp.review.hunk import ANOTHER_CHANGE, CHANGED, GONE, ReviewHunk
from tark_lsp.review.life import Event, Life
from tark_lsp.review.store import HunkStore
from tark_lsp.review.text_change import LineChanges
from tark_lsp.review.texts import CurrentTexts
from tark_lsp.workspace.documents import Change, Documents
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.snapshot import Snapshot


class HunkPlaces:
    def __init__(self, store: HunkStore, current: CurrentTexts, documents: Documents) -> None:
        self._store = store
        self._current = current
        self._documents = documents
        self._texts: dict[Path, FollowedText] = {}
        """The text that the hunks' places refer to, for files with hunks that are followed."""
        self.unsure: set[Path] = set()
        """Files with an edit by Tark on its way: it is not known yet whether their text has it."""
        self._missed: defaultdict[Path, list[Change]] = defaultdict(list)
        """The changes of these files in the meantime, since the text that the hunks' places refer to."""
        self._late: defaultdict[Path, list[tuple[Sequence[str], FollowedText]]] = defaultdict(list)
        """The ids of hunks that were added in the meantime, and the text that they refer to, which each change updates.
        They join the other hunks after the edit."""

    def add_hunks(self, path: Path, hunks: Sequence[ReviewHunk], base: Snapshot) -> None:
        """Add hunks of the text `base` of a file, at their places in the current text."""
        self._store.add_hunks(hunks)
        ids, text = [hunk.id for hunk in hunks], FollowedText([*base.lines])
        if path in self.unsure and path in self._texts and self._texts[path].lines == text.lines:
            return  # they refer to the text that the edit was made for, like the other hunks
        self._late[path].append((ids, text))
        if path not in self.unsure:
            self._join(path)
        elif self._documents.at(path) is not None:
            self._bring_up(path, ids, text)

    def is_followed(self, path: Path) -> bool:
        """Does the file have hunks whose places are kept up to date?"""
        return path in self._texts

    def texts_of_hunks(self, path: Path) -> list[tuple[str, list[ReviewHunk]]]:
        """Each text that hunks of the file refer to, with these hunks. Includes the texts of hunks yet to join."""
        late = [("".join(text.lines), self._store.get_hunks(ids)) for ids, text in self._late.get(path, ())]
        if path not in self._texts:
            return late
        return [("".join(self._texts[path].lines), self._joined(path)), *late]

    def forget_text(self, path: Path) -> None:
        """Drop the text of the file when its hunks are no longer followed."""
        if not self._joined(path, followed=True):
            self._texts.pop(path, None)

    def read_in_step(self, path: Path) -> Snapshot:
        """The current text, after mapping the hunks of the file to it. Raises WorkspaceError.

        It reads the file once, since another server or program may write a closed file between two reads.
        """
        now = self._current.read_text(path)
        self.sync(path, now)
        return now

    def lines_of(self, base: Snapshot) -> Sequence[str]:
        """The lines of a text that `read_in_step` returned."""
        known = self._texts.get(base.path)
        return base.lines if known is None else known.lines

    def sync(self, path: Path, now: Snapshot | None = None) -> None:
        """Map the hunks of a file from its last known text to the current text, `now` if it was just read.

        The hunks of a file that is gone keep their places, in case it comes back.
        """
        if path in self.unsure:  # `place_edit` maps the hunks through the edit on its way; here it would happen twice
            return
        known, document = self._texts.get(path), self._documents.at(path)
        if known is None or known.is_in_step(document):
            return
        followed = self._joined(path, followed=True)
        left = [hunk for hunk in followed if hunk.had_file and not (hunk.operation == "remove" and hunk.applied)]
        if left and self._current.is_gone(path, now):
            for hunk in left:
                if hunk.undecided:
                    self._store.apply_event(hunk.id, Event.GONE, reason=GONE)
        elif (lines := self._current.read_lines(path, now)) is not None:
            if known.lines in NOTHING and lines in NOTHING:
                first = [hunk for hunk in followed if creates_file(hunk)]
                self._store.replace_hunks(replace(hunk, old=tuple(lines)).place_at(0) for hunk in first)
                followed = [hunk for hunk in followed if hunk not in first]
            self._store.replace_hunks(known.replace_text(followed, lines, document, self._store.held))

    def follow_change(self, path: Path, change: Change) -> None:
        """Follow a change that the user or the editor just made."""
        if path in self.unsure:
            self._missed[path].append(change)
            for ids, text in self._late.get(path, ()):
                hunks = self._store.get_hunks(ids)
                self._store.replace_hunks(text.apply_change(hunks, change, self._store.held))
            return
        self._apply_changes(path, [change])
        self.sync(path)

    @contextmanager
    def uncertain(self, *paths: Path) -> Iterator[None]:
        """An edit by Tark is on its way to these files.

        If the edit arrived, the text shows what else changed meanwhile. If not, each of these changes is followed.
        """
        self.unsure.update(paths)
        try:
            yield
        finally:
            self.unsure.difference_update(paths)
            for path in paths:
                self._apply_changes(path, self._missed.pop(path, ()))
                self.sync(path)
                self._join(path)

    def place_edit(self, path: Path, edit: ProposedEdit, done: Sequence[str], *, applied: bool) -> None:
        """Move every hunk of the file to its place after `edit`. `done`: the ids of the hunks that the edit is of."""
        changes = LineChanges.of([(hunk.start, hunk.end, len(hunk.new) - len(hunk.old)) for hunk in edit.hunks])
        pairs = zip(self._store.get_hunks(done), edit.hunks, strict=True)
        inserted = [(hunk, len(part.new)) for hunk, part in pairs if not part.old]
        ours = {*done}
        for hunk in self._joined(path):
            if hunk.id not in ours:
                here = (other for other, _ in inserted if other.start == hunk.start)
                if not applied and hunk.life is Life.PROPOSED and not hunk.size and None in map(hunk.is_below, here):
                    hunk = hunk.touch(ANOTHER_CHANGE)  # is its place above or below the lines that come back?
                self._store.replace_hunk(follow_beside(hunk, changes, inserted, ANOTHER_CHANGE))
        grown = 0
        for hunk_id, part in zip(done, edit.hunks, strict=True):
            if applied:
                hunk = self._store[hunk_id]
                self._store.replace_hunk(replace(hunk, new=part.new))
            event = Event.WRITTEN if applied else Event.TAKEN_BACK
            self._store.apply_event(hunk_id, event, start=part.start + grown)
            grown += len(part.new) - len(part.old)
        lines = self.lines_of(edit.base)
        after, missed = lines_after(edit, lines), self._missed.pop(path, [])
        later = changes_since(after, lines, missed)
        if later is None:
            self._texts[path] = FollowedText(after)
        else:
            self._missed[path] = later
            self._texts[path] = FollowedText(after, missed[0].document, missed=len(later))

    def drop_changes(self, path: Path) -> None:
        """Drop the recorded changes: some of them were not the user's, so only the text shows their result."""
        self._missed.pop(path, None)

    def relocate_file(self, source: Path, target: Path) -> None:
        """Move all hunks of a file that was moved."""
        self._store.relocate_file(source, target)
        if (text := self._texts.pop(source, None)) is not None:
            self._texts[target] = FollowedText(text.lines)
        self._late[target] += self._late.pop(source, [])

    def _apply_changes(self, path: Path, changes: Iterable[Change]) -> None:
        if (text := self._texts.get(path)) is not None:
            for change in changes:
                followed = self._joined(path, followed=True)
                self._store.replace_hunks(text.apply_change(followed, change, self._store.held))

    def _join(self, path: Path) -> None:
        """Map new hunks to the text that the other hunks refer to."""
        for ids, text in self._late.get(path, ()):
            self.sync(path)
            self._bring_up(path, ids, text)
            self._texts.setdefault(path, text)
        self._late.pop(path, None)

    def _bring_up(self, path: Path, ids: Sequence[str], text: FollowedText) -> None:
        """Map new hunks from the text that they refer to to the current text, unless their file is gone."""
        hunks, document = self._store.get_hunks(ids), self._documents.at(path)
        if text.is_in_step(document):
            return
        if path in self._texts and path not in self.unsure:
            lines = self._texts[path].lines
        elif self._current.is_gone(path) and any(hunk.had_file for hunk in hunks):
            return
        else:
            lines = self._current.read_lines(path) or []
        self._store.replace_hunks(text.replace_text(hunks, lines, document, self._store.held))

    def _joined(self, path: Path, *, followed: bool = False) -> list[ReviewHunk]:
        """The hunks of the file, without hunks yet to join. `followed`: only hunks whose places are kept up to date."""
        every = self._store.followed_in(path) if followed else self._store.get_hunks(self._store.ids_in(path))
        late = {hunk_id for ids, _ in self._late.get(path, ()) for hunk_id in ids}
        return [hunk for hunk in every if hunk.id not in late] if late else every


def current_lines(places: HunkPlaces, current: CurrentTexts, path: Path) -> list[str] | None:
    """The lines of `read_in_step`; None if the file cannot be read."""
    try:
        return current.read_lines(path, places.read_in_step(path))
    except WorkspaceError:
        return None


def lines_after(edit: ProposedEdit, lines: Sequence[str]) -> list[str]:
    """The lines after the edit."""
    after = [*lines]
    for hunk in reversed(edit.hunks):
        after[hunk.start : hunk.end] = hunk.new
    return after


def changes_since(after: list[str], lines: Sequence[str], changes: Sequence[Change]) -> list[Change] | None:
    """The changes of `lines` since the last time that they were `after`; None if they never were.

    Only these changes were made by somebody else. The earlier changes are the edit, as the editor reports it in pieces.
    """
    text = FollowedText([*lines], changes[0].document if changes else None)
    found = None
    for number, change in enumerate(changes, 1):
        text.apply_change((), change, ())
        if text.lines == after:
            found = number
    return None if found is None else [*changes[found:]]


def retried(hunk: ReviewHunk, lines: Sequence[str]) -> ReviewHunk:
    """Makes a failed or stuck hunk pending again on these lines, or puts it in conflict if its own lines have changed.

    A removal conflicts if any line of the file changed since it was shown. A move does not depend on the text.
    """
    hunk = hunk.apply(Event.RETRIED, start=0 if hunk.operation else None)
    present = lines if hunk.operation == "remove" else lines[hunk.start : hunk.end]
    return hunk if tuple(present) == hunk.standing else hunk.touch(CHANGED)


def creates_file(hunk: ReviewHunk) -> bool:
    """Does the hunk write the text of a new file, in place of the empty line that an editor may show for it?"""
    return hunk.life is Life.PROPOSED and not hunk.had_file and list(hunk.old) in NOTHING
