"""All hunks, and where they stand: kept in step with the documents, with files that change unseen or are moved.

A hunk's place follows the text by line changes: those of the region an editor's change event touches, and of the whole
text where it changed unseen (a closed file, a document opened again).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.server.documents.documents import Change, Documents
from tark_lsp.server.review.followed_text import FollowedText
from tark_lsp.server.review.hunks import CHANGED, GONE, ReviewHunk, carry, lose, move, typed
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.snapshot import Snapshot

NOTHING: tuple[list[str], ...] = ([], ["\n"], ["\r\n"])
"""The lines of a file that is not there; Neovim shows it as one empty line."""


def stand_on(hunks: Iterable[ReviewHunk], nothing: Sequence[str]) -> None:
    """The text of a file that is to be made takes the place of that line, if it is there."""
    for each in hunks:
        if each.open and not each.applied and not each.of_file and list(each.hunk.old) in NOTHING:
            each.hunk = Hunk(0, tuple(nothing), each.hunk.new)
            each.stand(0, applied=False)


class HunkPlaces:
    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._workspace = workspace
        self._documents = documents
        self._hunks: dict[str, ReviewHunk] = {}
        self._by_path: defaultdict[Path, list[ReviewHunk]] = defaultdict(list)
        self._texts: dict[Path, FollowedText] = {}
        """The text that the hunks' places refer to, of files with hunks that are followed."""
        self.unsure: set[Path] = set()
        """Files with something of ours on its way: whether their text has it already, nobody knows yet."""
        self._missed: defaultdict[Path, list[Change]] = defaultdict(list)
        """What was changed in them meanwhile."""
        self._late: defaultdict[Path, list[tuple[Sequence[ReviewHunk], str]]] = defaultdict(list)
        """Hunks that came meanwhile, and the text they are of: they join after it."""

    def add(self, path: Path, hunks: Sequence[ReviewHunk], base: str) -> None:
        """Hunks of the text `base` of a file come to stand in the text of now."""
        self._hunks.update({each.id: each for each in hunks})
        self._by_path[path] += hunks
        self._late[path].append((hunks, base))
        if path not in self.unsure:
            self._join(path)

    def get(self, hunk_id: str) -> ReviewHunk | None:
        return self._hunks.get(hunk_id)

    def find(self, path: Path | None = None, turn_id: str | None = None) -> list[ReviewHunk]:
        """In the order they stand in their files."""
        some = self._hunks.values() if path is None else self._by_path.get(path, ())
        found = [each for each in some if turn_id is None or each.turn_id == turn_id]
        if path is not None:
            return sorted(found, key=lambda each: each.start)
        return sorted(found, key=lambda each: (str(each.path), each.start))

    def together(self, hunks: Iterable[ReviewHunk]) -> list[ReviewHunk]:
        """These, and all that is decided only together with one of them, in the order they were proposed."""
        some = [*hunks]
        names = {each.whole for each in some} - {""}
        return [each for each in self._hunks.values() if each in some or each.whole in names] if names else some

    def are_in(self, path: Path) -> bool:
        """Are there hunks in it whose places are kept up to date?"""
        return path in self._texts

    def texts(self, path: Path) -> list[tuple[str, list[ReviewHunk]]]:
        """Each text that hunks of the file stand in, with those: the one followed, and those of hunks yet to join."""
        late = [(base, [*hunks]) for hunks, base in self._late.get(path, ())]
        if path not in self._texts:
            return late
        joined = [each for each in self._by_path.get(path, ()) if not self._is_late(each)]
        return [("".join(self._texts[path].lines), joined), *late]

    def forget(self, path: Path) -> None:
        """Its text is kept no longer than its hunks are followed."""
        if not self._followed(path):
            self._texts.pop(path, None)

    def read(self, path: Path) -> Snapshot:
        """The text of now; what is not there is empty. Raises WorkspaceError."""
        try:
            return self._workspace.read(path)
        except FileMissing:
            return Snapshot(path, "", exists=False)

    def read_in_step(self, path: Path) -> Snapshot:
        """The text of now, the hunks of the file carried to it: by one look, since another server or program may write
        a closed file between two. Raises WorkspaceError."""
        now = self.read(path)
        self.sync(path, now)
        return now

    def lines(self, base: Snapshot) -> Sequence[str]:
        """Those of what `read_in_step` gave."""
        known = self._texts.get(base.path)
        return split_lines(base.text) if known is None else known.lines

    def after(self, edit: ProposedEdit) -> list[str]:
        """The lines as the edit leaves them."""
        lines = [*self.lines(edit.base)]
        for hunk in reversed(edit.hunks):
            lines[hunk.start : hunk.end] = hunk.new
        return lines

    def sync(self, path: Path, now: Snapshot | None = None) -> None:
        """Carry the hunks of a file from its last known text to the text of now, which `now` is if it was just read.

        Those of a file that is gone stay where they were in it, for when it is back.
        """
        if path in self.unsure:  # what is on its way is carried by `place`; carried here, too, it would be twice
            return
        known, document = self._texts.get(path), self._documents.at(path)
        if known is None or known.is_of(document):
            return
        followed = self._followed(path)
        left = [each for each in followed if each.of_file and not (each.operation == "remove" and each.applied)]
        if left and self._is_gone(path, now):
            for each in left:
                if each.open or each.lost:
                    each.state, each.reason, each.alarm = "stale", GONE, None
        elif (lines := self._lines(path, now)) is not None:
            if known.lines in NOTHING and lines in NOTHING:
                stand_on(followed, lines)
                known.become([], lines, document)
            else:
                known.become(followed, lines, document)

    def is_gone(self, each: ReviewHunk) -> bool:
        """Is it of a file that is not there any more?"""
        return each.of_file and self._is_gone(each.path)

    def _is_gone(self, path: Path, now: Snapshot | None = None) -> bool:
        """An editor may show nothing at the place of a file that is gone."""
        document = self._documents.at(path)
        if document is None and now is not None:
            return not now.exists
        return not path.exists() and (document is None or not document.text)

    def reopen(self, each: ReviewHunk) -> None:
        """A stale one is to be tried again; it is in conflict where its lines are others by now.

        A removal is of the whole file as it was shown; a move is of the file, whatever is in it.
        """
        lines = self._lines_in_step(each.path)
        if lines is None or self.is_gone(each):
            return
        each.state, each.reason = "pending", ""
        if each.operation:
            each.stand(0, applied=each.applied)
        if tuple(lines if each.operation == "remove" else lines[each.start : each.end]) != each.standing:
            lose(each, CHANGED)

    def follow(self, path: Path, change: Change) -> None:
        """One that was just made."""
        if path in self.unsure:
            self._missed[path].append(change)
            return
        self._texts[path].follow(self._followed(path), change)
        self.sync(path)

    @contextmanager
    def uncertain(self, *paths: Path) -> Iterator[None]:
        """Something of ours is on its way to these files.

        Where it came, what else came with it shows in the text; where not, each change is followed as it was told.
        """
        self.unsure.update(paths)
        try:
            yield
        finally:
            self.unsure.difference_update(paths)
            for path in paths:
                for change in self._missed.pop(path, ()):
                    if path in self._texts:
                        self._texts[path].follow(self._followed(path), change)
                self.sync(path)
                self._join(path)

    def place(self, path: Path, edit: ProposedEdit, done: Sequence[ReviewHunk], *, applied: bool) -> None:
        """Move every hunk of the file to where it stands in `edit.after`; `done` are those the edit is of."""
        changes = [(hunk.start, hunk.end, len(hunk.new) - len(hunk.old)) for hunk in edit.hunks]
        for each in self._by_path.get(path, ()):
            if each not in done and not self._is_late(each):
                move(each, changes, "another change was made to these lines")
        grown = 0
        for each, hunk in zip(done, edit.hunks, strict=True):
            each.new = hunk.new if applied else each.new
            each.stand(hunk.start + grown, applied=applied)
            grown += len(hunk.new) - len(hunk.old)
        self._texts[path] = FollowedText(self.after(edit))
        self._missed.pop(path, None)

    def relocate(self, source: Path, target: Path) -> None:
        """The file was moved, and all its hunks with it."""
        moved = self._by_path.pop(source, [])
        for each in moved:
            each.path = target
        self._by_path[target] += moved
        if (text := self._texts.pop(source, None)) is not None:
            self._texts[target] = FollowedText(text.lines)
        self._late[target] += self._late.pop(source, [])

    def standing(self, each: ReviewHunk) -> tuple[str, ...] | None:
        """The lines that stand in its place now; None where the file cannot be read."""
        lines = self._lines_in_step(each.path)
        return None if lines is None else tuple(lines[each.start : each.end])

    def typed(self, each: ReviewHunk, text: str) -> tuple[str, ...]:
        """What a person wrote for it, with the line endings of its document."""
        return typed(text, each.hunk.old, each.new, self._lines(each.path) or ())

    def _lines_in_step(self, path: Path) -> list[str] | None:
        """As `read_in_step`, and None as `_lines`."""
        try:
            return self._lines(path, self.read_in_step(path))
        except WorkspaceError:
            return None

    def _lines(self, path: Path, now: Snapshot | None = None) -> list[str] | None:
        """None: the file cannot be read, so nothing is known of its lines."""
        if (document := self._documents.at(path)) is not None:
            return document.lines[:] if document.lines[-1] else document.lines[:-1]
        try:
            return split_lines((now or self.read(path)).text)
        except WorkspaceError:
            return None

    def _followed(self, path: Path) -> list[ReviewHunk]:
        return [each for each in self._by_path.get(path, ()) if each.followed and not self._is_late(each)]

    def _join(self, path: Path) -> None:
        """The others stand in the text of now, and the new ones come to it from the text they were made for."""
        for hunks, base in self._late.get(path, ()):
            self.sync(path)
            if path not in self._texts:
                gone = self._is_gone(path) and any(each.of_file for each in hunks)
                lines = split_lines(base) if gone else self._lines(path) or []
                self._texts[path] = FollowedText(lines, self._documents.at(path))
            carry(hunks, split_lines(base), self._texts[path].lines)
        self._late.pop(path, None)

    def _is_late(self, hunk: ReviewHunk) -> bool:
        return any(hunk in hunks for hunks, _ in self._late.get(hunk.path, ()))
