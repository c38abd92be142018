"""One hunk that people decide on, and how it follows the text of its file. Pure."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from tark_lsp.server.documents.documents import Change
from tark_lsp.server.documents.positions import line_length
from tark_lsp.tools.tool import Diagnostic
from tark_lsp.workspace.edits import Operation
from tark_lsp.workspace.lines import Hunk, changed_ranges, ending_of, split_lines

State: TypeAlias = Literal["pending", "accepted", "rejected", "conflict", "stale"]
CHANGED = "the person changed these lines"
UNDONE = "the person undid it"
GONE = "the file is not there any more"


@dataclass(slots=True, eq=False)
class Alarm:
    """What the hunks of one edit share while it is watched; `errors` are those the editor shows since."""

    errors: tuple[Diagnostic, ...] = ()


@dataclass(slots=True, eq=False)
class ReviewHunk:
    """`hunk` has the lines it replaces, `new` what they become, as the person may have edited it.

    `start` and `size` are the lines that stand in its place now: the old ones, once applied the new ones, and where it
    is in conflict or stale whatever came to stand there, which may be nothing.
    """

    turn_id: str
    path: Path
    """Where its file is now."""
    hunk: Hunk
    start: int
    new: tuple[str, ...]
    outside_selection: bool = False
    operation: Operation = ""
    """What becomes of the file itself: a removal is the hunk of all its lines, a move one without lines."""
    target: Path | None = None
    """Where the file is to be moved."""
    whole: str = ""
    """Names what is applied all or not at all."""
    of_file: bool = True
    """There was a file when it was proposed."""
    applied: bool = False
    applying: bool = False
    """An edit of it is on its way to the editor."""
    state: State = "pending"
    reason: str = ""
    alarm: Alarm | None = None
    undone: bool = False
    """It was applied, and the editor's own undo took it back: redo may bring it again."""
    held: bool = False
    """Its file is being undone by us: what happens to its lines is not the person's own undo."""
    created: bool = False
    """There was no such file before it was applied."""
    id: str = field(default_factory=lambda: f"hunk-{secrets.token_hex(6)}")
    size: int = field(init=False)
    proposed: Hunk = field(init=False)
    """As the agent made it, in the text it knew."""
    origin: Path = field(init=False)
    """Where its file was when it was proposed."""
    source: Path = field(init=False)
    """Where a move that is applied took the file from."""

    def __post_init__(self) -> None:
        self.size = len(self.hunk.old)
        self.proposed, self.origin, self.source = self.hunk, self.path, self.path

    @property
    def standing(self) -> tuple[str, ...]:
        """The lines that stand in the text now, as long as it is to be decided."""
        return self.new if self.applied else self.hunk.old

    @property
    def end(self) -> int:
        return self.start + self.size

    @property
    def open(self) -> bool:
        """Still to be decided."""
        return self.state == "pending"

    @property
    def lost(self) -> bool:
        """Its lines are not as they were when it was made, or it could not be written."""
        return self.state in ("conflict", "stale")

    @property
    def followed(self) -> bool:
        """Is its place kept up to date?"""
        return self.open or self.lost or self.undone or (self.applied and self.alarm is not None)

    def towards(self, *, applied: bool) -> Hunk:
        """The edit that applies it, or takes it back."""
        old, new = (self.hunk.old, self.new) if applied else (self.new, self.hunk.old)
        return Hunk(self.start, old, new)

    def stand(self, start: int, *, applied: bool) -> None:
        """It was written there."""
        self.start, self.applied = start, applied
        self.size = len(self.standing)

    def undo(self, start: int) -> None:
        """Its old lines stand again where it was applied, by the person's own doing."""
        self.state, self.reason, self.alarm, self.undone = "rejected", UNDONE, None, True
        self.stand(start, applied=False)

    def redo(self, start: int) -> None:
        """Its new lines stand there once more: undone before, or typed over."""
        self.state, self.reason, self.undone = "pending", "", False
        self.stand(start, applied=True)


def touched_lines(change: Change, known: Sequence[str]) -> tuple[int, int]:
    """The lines [first, last) of the text before that the change really touches.

    Whole lines put before a line leave that line alone, and so does a new line begun at the end of one.
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


def carry(
    hunks: Iterable[ReviewHunk], old: Sequence[str], new: Sequence[str], region: tuple[int, int] | None = None
) -> None:
    """Of the lines `old` of their file those in `region` (all, without it) became `new`: move each hunk, or lose it."""
    first, last = region or (0, len(old))
    ranges = changed_ranges(old[first:last], new)
    changes = [(first + i1, first + i2, (j2 - j1) - (i2 - i1)) for i1, i2, j1, j2 in ranges]
    for each in hunks:
        if not each.lost and not each.undone and tuple(old[each.start : each.end]) != each.standing:
            lose(each, CHANGED)
        if not _switched(each, old, new, first, last, changes):
            move(each, changes, CHANGED)


def _switched(
    each: ReviewHunk,
    old: Sequence[str],
    new: Sequence[str],
    first: int,
    last: int,
    changes: Sequence[tuple[int, int, int]],
) -> bool:
    """Did the person's undo take back one that is applied, or their redo bring it again, by one change?

    Where lines beside it look like its own, the change may be told some lines above or below, with the same result.
    """
    if each.operation or each.held or not (each.undone or (each.applied and each.open)):
        return False
    there, wanted = (each.hunk.old, each.new) if each.undone else (each.new, each.hunk.old)
    if tuple(old[each.start : each.end]) != there:
        return False
    grown, shift = len(wanted) - len(there), 0
    for start, end, more in changes:
        if more == grown and start <= each.end + abs(grown) and each.start <= end + abs(grown):
            low, high = min(start, each.start), max(end, each.end)
            head, tail = old[low : max(low, first)], old[min(high, last) : high]  # outside the region
            inside = new[max(low, first) - first + shift : min(high, last) - first + shift + more]
            if [*head, *inside, *tail] == [*old[low : each.start], *wanted, *old[each.end : high]]:
                (each.redo if each.undone else each.undo)(each.start + shift)
                return True
        shift += more
    return False


def recognise(hunks: Iterable[ReviewHunk], lines: Sequence[str]) -> None:
    """Where the person's undo or redo took several changes: what stands there at last tells of what it is."""
    for each in hunks:
        if each.operation or each.held or not (each.undone or (each.applied and each.lost)):
            continue
        standing = tuple(lines[each.start : each.end])
        if standing == each.new:
            if each.state != "stale":  # that is what could not be taken back, and says why
                each.redo(each.start)
        elif standing == each.hunk.old and not each.undone:
            each.undo(each.start)


def move(each: ReviewHunk, changes: Sequence[tuple[int, int, int]], reason: str) -> None:
    """`changes`: lines [start, end) that were replaced, and by how many lines more; in order.

    A removal is of the file that was shown, so any change is a conflict with it.
    """
    if not each.lost and each.operation == "remove" and changes:
        lose(each, reason)
    if not each.lost and not each.undone:
        shift = 0
        for start, end, grown in changes:
            if start < each.end and each.start < end:
                lose(each, reason)
                break
            if end <= each.start and not (start == end == each.start == each.end):
                shift += grown  # of two insertions ours stays above
        else:
            each.start += shift
            return
    start, end = (_border(each, changes, below=below) for below in (False, True))
    each.start, each.size = start, max(0, end - start)


def _border(each: ReviewHunk, changes: Sequence[tuple[int, int, int]], *, below: bool) -> int:
    """Where the first line of what stands in its place is now, or the line `below` it.

    Where lines beside it were replaced together with its own, as many of the new ones as they were count as theirs,
    from the far side; the rest stands in its place.
    """
    at = each.end if below else each.start
    shift = 0
    for start, end, grown in changes:
        # What is put right above or below is not in it; into nothing, it is.
        if below == (each.size == 0) if start == end == at else end <= at:
            shift += grown
        elif start < at:
            count = end - start + grown
            inside = max(0, count - (end - at)) if below else min(at - start, count)
            return start + shift + inside
    return at + shift


def lose(each: ReviewHunk, reason: str) -> None:
    each.alarm = None
    if each.open:
        each.state, each.reason = "conflict", reason


def fitted(hunk: Hunk, lines: Sequence[str]) -> Hunk:
    """The hunk with an ending for its last line where others follow: it may have been made for the end of the file,
    or be what a person typed for it."""
    if not hunk.new or ending_of(hunk.new[-1]) or hunk.end >= len(lines):
        return hunk
    ending = next((ending for line in (*hunk.old, *lines[hunk.end :]) if (ending := ending_of(line))), "\n")
    return replace(hunk, new=(*hunk.new[:-1], hunk.new[-1] + ending))


def typed(text: str, *known: Sequence[str]) -> tuple[str, ...]:
    """What a person wrote for a hunk, in lines with the first ending that `known` has, else as it is.

    An editor keeps one kind of endings in a document whatever it is sent, so with others the edit would not be
    recognised in what the editor made of it.
    """
    ending = next((ending for lines in known for line in lines if (ending := ending_of(line))), None)
    return tuple(
        each if ending is None else each.removesuffix(ending_of(each)) + ending * bool(ending_of(each))
        for each in split_lines(text)
    )


def joins(hunk: Hunk, lines: Sequence[str]) -> bool:
    """Would its first line be joined to the last one, whose ending was removed since?"""
    return bool(hunk.new) and 0 < hunk.start == len(lines) and not ending_of(lines[-1])


def apart(hunks: Iterable[ReviewHunk]) -> list[ReviewHunk]:
    """In order, and of those that stand on the same lines the first."""
    chosen: list[ReviewHunk] = []
    for each in sorted(hunks, key=lambda each: (each.start, each.end)):
        if not chosen or chosen[-1].end <= each.start:
            chosen.append(each)
    return chosen


def by_path(hunks: Iterable[ReviewHunk]) -> dict[Path, list[ReviewHunk]]:
    grouped: dict[Path, list[ReviewHunk]] = {}
    for each in hunks:
        grouped.setdefault(each.path, []).append(each)
    return grouped


def by_turn(hunks: Iterable[ReviewHunk]) -> dict[str, list[ReviewHunk]]:
    grouped: dict[str, list[ReviewHunk]] = {}
    for each in hunks:
        grouped.setdefault(each.turn_id, []).append(each)
    return grouped
