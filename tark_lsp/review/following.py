"""How hunks follow the text of their file: by line changes. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tark_lsp.review.hunk import CHANGED, UNDONE, ReviewHunk
from tark_lsp.review.life import Event, Life
from tark_lsp.workspace.documents import Change, TextDocument
from tark_lsp.workspace.lines import changed_ranges, split_lines
from tark_lsp.workspace.positions import line_length

NOTHING: tuple[list[str], ...] = ([], ["\n"], ["\r\n"])
"""The lines of a file that does not exist; Neovim shows it as one empty line."""
LineChange = tuple[int, int, int]
"""Lines [start, end) were replaced, and by how many lines more."""


@dataclass(frozen=True)
class TextChange:
    """The lines from `first` up to `last` of the lines `old` became `new`; the other lines are as they were."""

    old: Sequence[str]
    new: Sequence[str]
    first: int
    last: int

    @classmethod
    def of_text(cls, old: Sequence[str], new: Sequence[str]) -> "TextChange":
        return cls(old, new, 0, len(old))

    @cached_property
    def line_changes(self) -> list[LineChange]:
        """In order."""
        ranges = changed_ranges(self.old[self.first : self.last], self.new)
        return [(self.first + i1, self.first + i2, (j2 - j1) - (i2 - i1)) for i1, i2, j1, j2 in ranges]

    def switch(self, hunk: ReviewHunk, present: Sequence[str], wanted: Sequence[str]) -> int | None:
        """Where the lines of the hunk start now, if one line change made `wanted` of `present`, the lines in its place.

        If lines beside it look like its own, a diff can report the change some lines above or below, with the same
        result.
        """
        if tuple(self.old[hunk.start : hunk.end]) != present:
            return None
        grown, shift = len(wanted) - len(present), 0
        for start, end, more in self.line_changes:
            near = start <= hunk.end + abs(grown) and hunk.start <= end + abs(grown)
            if more == grown and near and self._is_switched(hunk, wanted, (start, end, more), shift):
                return hunk.start + shift
            shift += more
        return None

    def removes(self, hunk: ReviewHunk) -> bool:
        """Are the lines that were in the place of the hunk removed, with nothing written instead?"""
        removals = [(start, end) for start, end, grown in self.line_changes if end - start + grown == 0]
        return hunk.size > 0 and any(start <= hunk.start and hunk.end <= end for start, end in removals)

    def _is_switched(self, hunk: ReviewHunk, wanted: Sequence[str], change: LineChange, shift: int) -> bool:
        """Do the lines around the change read like the old ones with `wanted` in the place of the hunk?"""
        start, end, more = change
        low, high = min(start, hunk.start), max(end, hunk.end)
        head, tail = self.old[low : max(low, self.first)], self.old[min(high, self.last) : high]  # outside the region
        offset = shift - self.first
        inside = self.new[max(low, self.first) + offset : min(high, self.last) + offset + more]
        return [*head, *inside, *tail] == [*self.old[low : hunk.start], *wanted, *self.old[hunk.end : high]]


def follow_change(hunk: ReviewHunk, change: TextChange, held: Collection[str] = ()) -> ReviewHunk:
    """The hunk after a change of its text: moved, touched, or recognised as undone or redone by the editor.

    `held`: the ids of hunks in a file that we are changing for a decision; such a change is not an undo by the user.
    """
    undone = hunk.life is Life.UNDONE
    if not hunk.blocked and not undone and tuple(change.old[hunk.start : hunk.end]) != hunk.standing:
        hunk = hunk.touch(CHANGED)
    if not hunk.operation and hunk.id not in held and (undone or (hunk.applied and hunk.pending)):
        present, wanted = (hunk.old, hunk.new) if undone else (hunk.new, hunk.old)
        start = change.switch(hunk, present, wanted)
        if start is not None:
            return redo(hunk, start) if undone else undo(hunk, start)
    return follow_lines(hunk, change.line_changes, CHANGED)


def recognise(
    hunk: ReviewHunk, lines: Sequence[str], held: Collection[str] = (), *, removed: bool = False
) -> ReviewHunk:
    """Recognises an undo or redo of the editor in several changes, by the lines at the hunk's place.

    After the undo of an insertion there are no lines at its place. This is also the case after its lines were joined
    to others. So it counts as undone only if the last change `removed` the lines at its place.
    """
    undone = hunk.life is Life.UNDONE
    if hunk.operation or hunk.id in held or not (undone or (hunk.applied and hunk.blocked)):
        return hunk
    present = tuple(lines[hunk.start : hunk.end])
    if present == hunk.new:
        # One that could not be taken back stays so, and says why.
        return hunk if hunk.life is Life.STUCK else redo(hunk, hunk.start)
    return undo(hunk, hunk.start) if present == hunk.old and (hunk.old or removed) and not undone else hunk


def undo(hunk: ReviewHunk, start: int) -> ReviewHunk:
    return hunk.apply(Event.UNDONE, reason=UNDONE, start=start)


def redo(hunk: ReviewHunk, start: int) -> ReviewHunk:
    return hunk.apply(Event.REDONE, start=start)


def follow_lines(hunk: ReviewHunk, changes: Sequence[LineChange], reason: str) -> ReviewHunk:
    """The hunk moved by the changes above it, or touched for `reason` by those of its lines.

    A removal is of the file that was shown, so any change touches it.
    """
    if not hunk.blocked and hunk.operation == "remove" and changes:
        hunk = hunk.touch(reason)
    if not hunk.blocked and hunk.life is not Life.UNDONE:
        shift = 0
        for start, end, grown in changes:
            if start < hunk.end and hunk.start < end:
                hunk = hunk.touch(reason)
                break
            if end <= hunk.start and not (start == end == hunk.start == hunk.end):
                shift += grown  # of two insertions ours stays above
        else:
            return hunk.stretch(hunk.start + shift, hunk.end + shift) if shift else hunk
    start, end = (_border(hunk, changes, below=below) for below in (False, True))
    return hunk if (start, end) == (hunk.start, hunk.end) else hunk.stretch(start, end)


def _border(hunk: ReviewHunk, changes: Sequence[LineChange], *, below: bool) -> int:
    """The number of the first line in the place of the hunk, or of the line `below` it.

    If lines beside it were replaced together with its own, as many of the new lines as they were count as theirs, from
    the far side; the rest is in its place.
    """
    at = hunk.end if below else hunk.start
    shift = 0
    for start, end, grown in changes:
        # An insertion right above or below is not part of it, unless the hunk has no lines.
        if below == (hunk.size == 0) if start == end == at else end <= at:
            shift += grown
        elif start < at:
            count = end - start + grown
            inside = max(0, count - (end - at)) if below else min(at - start, count)
            return start + shift + inside
    return at + shift


def touched_lines(change: Change, known: Sequence[str]) -> tuple[int, int]:
    """The lines [first, last) of the old text that the change really touches.

    Inserting whole lines before a line does not touch that line. Nor does a new line at the end of a line.
    """
    first, last = change.start_line, change.end_line + 1
    whole_lines = change.text.endswith(("\n", "\r")) or (not change.text and change.start_character == 0)
    if change.end_character == 0 and whole_lines:
        last = change.end_line if change.start_character == 0 else max(first + 1, change.end_line)
    elif (
        last == first + 1
        and first < len(known)
        and change.start_character == change.end_character == line_length(known[first])
        and change.text.startswith(("\n", "\r"))
    ):
        first = last
    first = min(first, len(known))
    return first, max(first, min(last, len(known)))


class FollowedText:
    """The text that the hunks of one file refer to. It follows the edits of its document one by one.

    `lines` is the last known text. `document` is None if the file is closed, or if the document may have another text.
    """

    def __init__(self, lines: list[str], document: TextDocument | None = None, *, missed: int = 0) -> None:
        """`missed`: how many changes of the document are still to be applied to `lines`."""
        self.lines = lines
        self._document = document
        self._changes = -1 if document is None else document.changes - missed

    def is_in_step(self, document: TextDocument | None) -> bool:
        """Is this certainly, without a comparison, the document's current text?"""
        return document is not None and document is self._document and document.changes == self._changes

    def replace_text(
        self, hunks: Iterable[ReviewHunk], lines: list[str], document: TextDocument | None, held: Collection[str]
    ) -> list[ReviewHunk]:
        """The text is `lines` now, whatever changed it; returns the hunks in it."""
        change = TextChange.of_text(self.lines, lines)
        same = lines == self.lines
        self.lines, self._document = lines, document
        self._changes = -1 if document is None else document.changes
        return [*hunks] if same else _followed(hunks, change, lines, held)

    def apply_change(self, hunks: Iterable[ReviewHunk], change: Change, held: Collection[str]) -> list[ReviewHunk]:
        """One change of the document; returns the hunks after it. The text stays in step if it was in step before."""
        if change.document is not self._document:  # another document of this file
            self._document = None
            return [*hunks]
        lines, first, last = self.lines, change.start_line, change.end_line
        head, tail = self._line(first)[: change.start_character], self._line(last)[change.end_character :]
        if not head and first > 0 and self._line(first - 1).endswith("\r") and (change.text or tail).startswith("\n"):
            first -= 1  # the change made one line ending of an existing \r and a \n
            head = self._line(first)
        new, old = split_lines(head + change.text + tail), lines[first : last + 1]
        start, end = touched_lines(change, lines)
        above, below = max(0, start - first), max(0, first + len(old) - end)
        same = old[:above] == new[:above] and old[len(old) - below :] == new[len(new) - below :]
        if not same or above + below > min(len(old), len(new)):
            above = below = 0
        region = TextChange(lines, new[above : len(new) - below], first + above, first + len(old) - below)
        moved = [(follow_change(hunk, region, held), region.removes(hunk)) for hunk in hunks]
        lines[first : last + 1] = new
        self._changes += 1
        return [recognise(hunk, lines, held, removed=removed) for hunk, removed in moved]

    def _line(self, number: int) -> str:
        """The last one may be the empty line after an ending."""
        return self.lines[number] if number < len(self.lines) else ""


def _followed(
    hunks: Iterable[ReviewHunk], change: TextChange, lines: Sequence[str], held: Collection[str]
) -> list[ReviewHunk]:
    return [recognise(follow_change(hunk, change, held), lines, held, removed=change.removes(hunk)) for hunk in hunks]
