"""Tracks, through every change of a text, which lines end in a `!` that the user inserted. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Mark(Enum):
    """The state of the last `!` of a line."""

    INSERTED = "inserted"
    """The user inserted it, and the comment has not run."""
    LATE = "late"
    """The same, but the file on disk already had it when the change was reported. `didSave` shows whether the user
    saved it."""
    RETURNED = "returned"
    """It ran before and came back in one step, so the user undid its removal. Or the file on disk has it."""
    DUE = "due"
    """The comment runs as soon as the `!` is removed."""


Marks = Mapping[int, Mark]
"""By line. A line without an entry has no `!`, or one that the user did not insert."""


@dataclass(frozen=True, slots=True)
class LineChange:
    """`line` is the only changed line of the new text. `before` is its old text; empty if the line is new."""

    line: int
    before: str
    after: str

    @property
    def inserts_mark(self) -> bool:
        """Whether the last `!` of the line is new."""
        first, end = _differing(self.before, self.after)
        return first <= self.after.rfind("!") < end


def carry_marks(marks: Marks, before: Sequence[str], after: Sequence[str]) -> tuple[Marks, LineChange | None]:
    """The marks in the new text, and the changed line, if there is only one."""
    start, end = _differing(before, after)
    grown = len(after) - len(before)
    old, new = before[start : end - grown], after[start:end]
    carried: dict[int, Mark] = {}
    for line, mark in marks.items():
        if line < start:
            carried[line] = mark
        elif line >= end - grown:
            carried[line + grown] = mark
        elif (place := _place_of_mark(line - start, old, new)) is not None:
            carried[start + place] = mark
    is_one = len(old) <= 1 and len(new) == 1
    return carried, LineChange(start, "".join(old), new[0]) if is_one else None


def _differing(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """The part [start, end) of `after` that is not in `before`."""
    shorter = min(len(before), len(after))
    start = _common(before[:shorter], after[:shorter])
    rest = _common(before[::-1][: shorter - start], after[::-1][: shorter - start])
    return start, len(after) - rest


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the common prefix. Compares slices, because it runs for each key, and a text can be long."""
    least, most = 0, len(one)
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _place_of_mark(line: int, old: Sequence[str], new: Sequence[str]) -> int | None:
    """The line of `new` whose last `!` is the last `!` of this line of `old`; None if there is none."""
    before, after = "".join(old), "".join(new)
    first, end = _differing(before, after)
    offset = sum(map(len, old[:line])) + old[line].rfind("!")
    if offset >= end - (len(after) - len(before)):
        offset += len(after) - len(before)
    elif offset >= first:
        return _same_line(old[line], old, new)
    at, begun = 0, 0
    while begun + len(new[at]) <= offset:
        at, begun = at + 1, begun + len(new[at])
    return at if begun + new[at].rfind("!") == offset else None


def _same_line(line: str, old: Sequence[str], new: Sequence[str]) -> int | None:
    """The place of a line that stayed the same except for blanks, which formatters change."""
    text = _without_blanks(line)
    places = [at for at, other in enumerate(new) if _without_blanks(other) == text]
    once = sum(_without_blanks(other) == text for other in old) == 1
    return places[0] if once and len(places) == 1 else None


def _without_blanks(line: str) -> str:
    return "".join(line.split())
