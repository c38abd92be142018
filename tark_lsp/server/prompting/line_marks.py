"""Which lines of a text end in a `!` that the user inserted, carried through every change of the text. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Mark(Enum):
    """What is known of the last `!` of a line."""

    INSERTED = "inserted"
    """The user inserted it, and it did not run."""
    LATE = "late"
    """The same, but told only when the file was being saved: it counts if `didSave` is the next message."""
    RETURNED = "returned"
    """It ran before, and came back in one step: the user undid its removal."""
    DUE = "due"
    """It runs as soon as it is removed."""


Marks = Mapping[int, Mark]
"""By line. A line without an entry has no `!`, or one that came in another way."""


@dataclass(frozen=True, slots=True)
class LineChange:
    """`line` is the only line of the new text that differs, `before` what it was; empty if it is new."""

    line: int
    before: str
    after: str

    @property
    def inserts_mark(self) -> bool:
        """Is its last `!` a new one?"""
        first, end = _differing(self.before, self.after)
        return first <= self.after.rfind("!") < end


def carry_marks(marks: Marks, before: Sequence[str], after: Sequence[str]) -> tuple[Marks, LineChange | None]:
    """The marks in the new text; and what changed, if that is at most one line."""
    start, end = _differing(before, after)
    grown = len(after) - len(before)
    old, new = before[start : end - grown], after[start:end]
    change = None
    if len(old) <= 1 and len(new) == 1:
        change = LineChange(start, old[0] if old else "", new[0])
    carried: dict[int, Mark] = {}
    for line, mark in marks.items():
        place: int | None
        if line < start:
            place = line
        elif line >= end - grown:
            place = line + grown
        elif change is not None:
            place = start if _is_same_mark(change) else None
        else:
            place = _same_line(before[line], old, new, start)
        if place is not None:
            carried[place] = mark
    return carried, change


def _differing(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """The part [start, end) of `after` that is not in `before`."""
    shorter = min(len(before), len(after))
    start = _common(before[:shorter], after[:shorter])
    rest = _common(before[::-1][: shorter - start], after[::-1][: shorter - start])
    return start, len(after) - rest


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items both begin with. Compares slices, since it runs for each key, and a text can have many lines."""
    least, most = 0, len(one)
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _is_same_mark(change: LineChange) -> bool:
    """Has the line the same last `!` as before?"""
    before, after = change.before.rfind("!"), change.after.rfind("!")
    first, end = _differing(change.before, change.after)
    if after < 0 or before < 0:
        return False
    if after < first:
        return before == after
    return after >= end and len(change.before) - before == len(change.after) - after


def _same_line(line: str, old: Sequence[str], new: Sequence[str], start: int) -> int | None:
    """Where a change of several lines left a line: formatters change only the blanks of a comment."""
    text = _without_blanks(line)
    places = [at for at, other in enumerate(new) if _without_blanks(other) == text]
    once = sum(_without_blanks(other) == text for other in old) == 1
    return start + places[0] if once and len(places) == 1 else None


def _without_blanks(line: str) -> str:
    return "".join(line.split())
