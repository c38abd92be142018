"""Finds the lines of a hunk after a formatter changed its file on save. Pure.

An editor does not report who changed a text. Two facts distinguish a formatter from the user: the change came between
`textDocument/willSave` and `didSave`, or the lines differ from the former lines only in what formatters change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tark_lsp.workspace.lines import changed_ranges

Place: TypeAlias = tuple[int, int]
"""Lines [start, end)."""

REACH = 50
"""How many lines above and below its place to look for the lines of a hunk."""

SAME_QUOTE = str.maketrans({"'": '"', "`": '"', **dict.fromkeys(",;()")})
"""Formatters choose the quotes, and add or remove these characters."""


@dataclass(frozen=True, slots=True)
class BeforeSave:
    """The text when a save began, and the places of the hunks whose lines were unchanged then, by their ids."""

    lines: Sequence[str]
    places: Mapping[str, Place]

    def place_now(self, hunk_id: str, lines: Sequence[str]) -> Place | None:
        """Where the hunk's lines are in the saved text; None if lines beside them were changed together with them."""
        if hunk_id not in self.places:
            return None
        start, end = self.places[hunk_id]
        above = grown = 0
        for first, last, new_first, new_last in changed_ranges(self.lines, lines):
            more = (new_last - new_first) - (last - first)
            if last <= start:
                above += more
            elif first < end:
                if first < start or end < last:
                    return None
                grown += more
        return start + above, end + above + grown


def find_formatted(new: Sequence[str], lines: Sequence[str], near: Place) -> Place | None:
    """Where the lines are the same as `new` except for their format: the place nearest to `near`.

    None if `new` begins or ends with an empty line and `near` has other text as well: the user may have typed it there.
    """
    wanted, (start, end) = _content(new), near
    if not wanted:
        return None
    present = _content(lines[start:end])
    if present == wanted:
        return near
    if wanted in present and not all(map(str.strip, (new[0], new[-1]))):
        return None
    contents = {
        number: _content([lines[number]]) for number in range(max(0, start - REACH), min(len(lines), end + REACH))
    }
    found = (place for number in contents if (place := _place_from(number, contents, wanted)) is not None)
    return min(found, key=lambda place: abs(place[0] - start), default=None)


def overlaps(place: Place, others: Iterable[Place]) -> bool:
    start, end = place
    return any(start < other_end and other_start < end for other_start, other_end in others)


def _place_from(first: int, contents: Mapping[int, str], wanted: str) -> Place | None:
    """The lines from `first` on whose content is `wanted`."""
    if not contents[first]:
        return None
    left, number = wanted, first
    while left and number in contents and left.startswith(contents[number]):
        left = left.removeprefix(contents[number])
        number += 1
    return None if left else (first, number)


def _content(lines: Sequence[str]) -> str:
    """The text without what a formatter changes."""
    return "".join("".join(lines).translate(SAME_QUOTE).split())
