"""Which lines of a text end in a `!` that the user inserted, carried through every change of the text. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Mark(Enum):
    """What is known of the last `!` of a line."""

    INSERTED = "inserted"
    """The user inserted it, and it did not run."""
    LATE = "late"
    """The same, but the file on disk had it already when it was told: `didSave` shows whether the user saved it."""
    RETURNED = "returned"
    """It ran before, and came back in one step, so the user undid its removal; or it is in the file on disk."""
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
    """How many items both begin with. Compares slices, since it runs for each key, and a text can have many lines."""
    least, most = 0, len(one)
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _place_of_mark(line: int, old: Sequence[str], new: Sequence[str]) -> int | None:
    """The line of `new` that has the last `!` of a line of `old`, as its last one."""
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
    """Where a line is that stayed the same but for blanks, which formatters change."""
    text = _without_blanks(line)
    places = [at for at, other in enumerate(new) if _without_blanks(other) == text]
    once = sum(_without_blanks(other) == text for other in old) == 1
    return places[0] if once and len(places) == 1 else None


def _without_blanks(line: str) -> str:
    return "".join(line.split())
