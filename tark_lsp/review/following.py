"""How hunks move with the text of their file, by line changes. Pure."""

from collections.abc import Collection, Iterable, Sequence

from tark_lsp.review.hunk import CHANGED, UNDONE, ReviewHunk
from tark_lsp.review.life import Event, Life
from tark_lsp.review.text_change import LineChanges, Switch, TextChange
from tark_lsp.workspace.documents import Change, TextDocument
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.positions import line_length

NOTHING: tuple[list[str], ...] = ([], ["\n"], ["\r\n"])
"""The lines of a file that does not exist; Neovim shows it as one empty line."""
RECOGNISED = frozenset(life for life in Life if life in (Life.UNDONE, Life.CONFLICT) or (life.applied and life.blocked))
"""The states that `recognise` can end."""


def follow_hunks(hunks: Iterable[ReviewHunk], change: TextChange, held: Collection[str] = ()) -> list[ReviewHunk]:
    """The hunks after a change of their text: moved, touched, or recognised as undone or redone by the editor.

    `held`: the ids of hunks in a file that Tark is changing for a decision. Such a change is not an undo by the user.
    """
    hunks = [_touched_before(hunk, change) for hunk in hunks]
    switches = (
        Switch(hunk, hunk.old, hunk.new) if hunk.life is Life.UNDONE else Switch(hunk, hunk.new, hunk.old)
        for hunk in hunks
        if not hunk.operation and hunk.id not in held and (hunk.life is Life.UNDONE or (hunk.applied and hunk.pending))
    )
    starts = change.find_switched(switches)
    inserted = [
        (hunk, len(hunk.new if hunk.life is Life.UNDONE else hunk.old))
        for hunk in hunks
        if hunk.id in starts and not hunk.size
    ]
    found, changes = [], LineChanges.of(change.line_changes)
    for hunk in hunks:
        start = starts.get(hunk.id)
        if start is None:
            found.append(follow_beside(hunk, changes, inserted, CHANGED))
        else:
            found.append(redo(hunk, start) if hunk.life is Life.UNDONE else undo(hunk, start))
    return found


def follow_undo(hunks: Iterable[ReviewHunk], change: TextChange) -> list[ReviewHunk]:
    """Like `follow_hunks`, for a change that is an undo by Tark.

    It can undo hunks together with decided hunks, which are no longer followed.
    """
    before = [*hunks]
    after = []
    for was, hunk in zip(before, follow_hunks(before, change), strict=True):
        taken_back = was.life is Life.APPLIED and hunk.applied
        start = change.find_taken_back(was) if taken_back else None
        after.append(hunk if start is None else undo(hunk, start))
    return after


def _touched_before(hunk: ReviewHunk, change: TextChange) -> ReviewHunk:
    """The hunk, touched if its lines had already been changed before the change."""
    followed = not hunk.blocked and hunk.life is not Life.UNDONE
    changed = followed and tuple(change.old[hunk.start : hunk.end]) != hunk.standing
    return hunk.touch(CHANGED) if changed else hunk


def divide_by_distance(
    hunks: Iterable[ReviewHunk], change: TextChange, held: Collection[str] = ()
) -> tuple[list[ReviewHunk], list[ReviewHunk]]:
    """The hunks that the change may affect, and the hunks that it only moves, already moved. Runs at each key press.

    A hunk whose lines changed while it was held counts as affected by the first change after that, wherever it is.
    """
    size, replaced = len(change.new), change.last - change.first
    first, last, grown = change.first - size - replaced, change.last + size + replaced, size - replaced
    near: list[ReviewHunk] = []
    moved: list[ReviewHunk] = []
    for hunk in hunks:  # 500 changes with 500 hunks run this 250,000 times, so most iterations call no function
        start, reach = hunk.start, len(hunk.old) + len(hunk.new)
        if hunk.operation or (hunk.life in RECOGNISED and recognise(hunk, change.old, held, removed=True) is not hunk):
            near.append(hunk)
        elif last + reach < start:
            moved.append(hunk.stretch(start + grown, hunk.end + grown) if grown else hunk)
        elif first <= start + hunk.size + reach:
            near.append(hunk)
    return near, moved


def recognise(
    hunk: ReviewHunk, lines: Sequence[str], held: Collection[str] = (), *, removed: bool = False
) -> ReviewHunk:
    """Recognises from the lines at the hunk's place the end of a conflict, or an undo or redo of several changes.

    After the undo of an insertion there are no lines at its place. This is also the case after its lines were joined
    to other lines. So an insertion counts as undone only if the last change `removed` the lines at its place.
    """
    if hunk.operation or hunk.id in held or hunk.life not in RECOGNISED:
        return hunk
    undone = hunk.life is Life.UNDONE
    conflict = hunk.life is Life.CONFLICT
    present = tuple(lines[hunk.start : hunk.end])
    if conflict:
        # Without own lines, nothing shows that they are back.
        return hunk.apply(Event.RESTORED) if hunk.old and present == hunk.old else hunk
    if present == hunk.new:
        # A hunk that could not be undone keeps its state and its reason.
        return hunk if hunk.life is Life.STUCK else redo(hunk, hunk.start)
    return undo(hunk, hunk.start) if present == hunk.old and (hunk.old or removed) and not undone else hunk


def undo(hunk: ReviewHunk, start: int) -> ReviewHunk:
    return hunk.apply(Event.UNDONE, reason=UNDONE, start=start)


def redo(hunk: ReviewHunk, start: int) -> ReviewHunk:
    return hunk.apply(Event.REDONE if hunk.life is Life.UNDONE else Event.RESTORED, start=start)


def follow_beside(
    hunk: ReviewHunk, changes: LineChanges, inserted: Sequence[tuple[ReviewHunk, int]], reason: str
) -> ReviewHunk:
    """Like `follow_lines`. `inserted`: other hunks without lines, and how many lines they get by these changes.

    The text does not show whether a hunk without lines is above or below lines that are inserted at its place. The
    texts that the two hunks were proposed for can show it.
    """
    here = [(other, grown) for other, grown in inserted if other.start == hunk.start] if not hunk.size else []
    below = [hunk.is_below(other) for other, _ in here]
    added = sum(
        grown for start, end, grown in changes.touching(hunk.start, hunk.start)[0] if start == end == hunk.start
    )
    if not here or None in below or added != sum(grown for _, grown in here):
        return follow_lines(hunk, changes, reason)
    others = LineChanges.of([item for item in changes.changes if not item[0] == item[1] == hunk.start])
    shift = sum(grown for (_, grown), is_below in zip(here, below, strict=True) if is_below)
    hunk = follow_lines(hunk, others, reason)
    return hunk.stretch(hunk.start + shift, hunk.end + shift) if shift else hunk


def follow_lines(hunk: ReviewHunk, changes: LineChanges, reason: str) -> ReviewHunk:
    """The hunk after the changes: moved by changes above it, or touched for `reason` by changes of its lines.

    A removal applies only to the file as it was shown, so any change touches it.
    """
    if not hunk.blocked and hunk.operation == "remove" and changes.changes:
        hunk = hunk.touch(reason)
    if not hunk.blocked and hunk.life is not Life.UNDONE:
        near, shift = changes.touching(hunk.start, hunk.end)
        for start, end, grown in near:
            if start < hunk.end and hunk.start < end:
                hunk = hunk.touch(reason)
                break
            if end <= hunk.start and not (start == end == hunk.start == hunk.end):
                shift += grown  # if two insertions are at the same place, Tark's stays above
        else:
            return hunk.stretch(hunk.start + shift, hunk.end + shift) if shift else hunk
    start, end = (_border(hunk, changes, below=below) for below in (False, True))
    return hunk if (start, end) == (hunk.start, hunk.end) else hunk.stretch(start, end)


def _border(hunk: ReviewHunk, changes: LineChanges, *, below: bool) -> int:
    """The number of the first line in the place of the hunk, or of the line `below` it.

    If lines beside the hunk were replaced together with its own lines, the outer new lines count as the neighbours': as
    many as there were before. The rest is the place of the hunk.
    """
    at = hunk.end if below else hunk.start
    near, shift = changes.touching(at, at)
    for start, end, grown in near:
        # An insertion right above or below is not part of the hunk, unless the hunk has no lines.
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
    """The text that the hunks of one file refer to. It is updated with each edit of its document.

    `lines` is the last known text. `document` is None if the file is closed, or if the document may have another text.
    """

    def __init__(self, lines: list[str], document: TextDocument | None = None, *, missed: int = 0) -> None:
        """`missed`: how many changes of the document are still to be applied to `lines`."""
        self.lines = lines
        self._document = document
        self._changes = -1 if document is None else document.changes - missed
        self._untouched: dict[str, tuple[int, int]] = {}
        """By the ids of hunks in conflict: how many lines the text had before, and where the hunk's lines began."""

    def is_in_step(self, document: TextDocument | None) -> bool:
        """Is this certainly, without a comparison, the document's current text?"""
        return document is not None and document is self._document and document.changes == self._changes

    def replace_text(
        self, hunks: Iterable[ReviewHunk], lines: list[str], document: TextDocument | None, held: Collection[str]
    ) -> list[ReviewHunk]:
        """Set the text to `lines`, whatever changed it. Returns the hunks in it."""
        change = TextChange.of_text(self.lines, lines)
        same = lines == self.lines
        self.lines, self._document = lines, document
        self._changes = -1 if document is None else document.changes
        before = [*hunks]
        return before if same else self._restored(before, _followed(before, change, lines, held), change, held)

    def apply_change(self, hunks: Iterable[ReviewHunk], change: Change, held: Collection[str]) -> list[ReviewHunk]:
        """Apply one change of the document. Returns the hunks after it. A text that was in step stays in step."""
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
        before, far = divide_by_distance(hunks, region, held)
        moved = zip(follow_hunks(before, region, held), map(region.removes, before), strict=True)
        lines[first : last + 1] = new
        self._changes += 1
        after = [recognise(hunk, lines, held, removed=removed) for hunk, removed in moved]
        return [*far, *self._restored(before, after, region, held)]

    def _restored(
        self, before: Iterable[ReviewHunk], after: Iterable[ReviewHunk], change: TextChange, held: Collection[str]
    ) -> list[ReviewHunk]:
        """Ends a conflict when a change of the hunk's lines restores them at their former place and the text's length.

        `recognise` does not see this if lines beside them were replaced together with them. A change elsewhere does not
        end the conflict: equal lines can be at that place in a text of that length by chance.
        """
        size = len(self.lines) - change.growth
        found = []
        for was, hunk in zip(before, after, strict=True):
            if hunk.life in (Life.CONFLICT, Life.TYPED_OVER):
                if not was.blocked:
                    self._untouched[hunk.id] = size, was.start
                count, start = self._untouched.get(hunk.id, (-1, 0))
                lines, end = hunk.standing, start + len(hunk.standing)
                back = bool(lines) and tuple(self.lines[start:end]) == lines and change.writes(start, end)
                if count == len(self.lines) and back and hunk.id not in held and not hunk.operation:
                    hunk = hunk.apply(Event.RESTORED, start=start)
            found.append(hunk)
        return found

    def _line(self, number: int) -> str:
        """The last line may be the empty line after a line ending."""
        return self.lines[number] if number < len(self.lines) else ""


def _followed(
    hunks: Iterable[ReviewHunk], change: TextChange, lines: Sequence[str], held: Collection[str]
) -> list[ReviewHunk]:
    before = [*hunks]
    moved = zip(before, follow_hunks(before, change, held), strict=True)
    return [recognise(after, lines, held, removed=change.removes(hunk)) for hunk, after in moved]
