"""One change of a text, and the hunks that it switched: new lines became old lines, or the reverse. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.workspace.edits import NEAR
from tark_lsp.workspace.lines import changed_ranges

LineChange: TypeAlias = tuple[int, int, int]
"""Lines [start, end) were replaced, and the number of lines grew by the third value."""


@dataclass(frozen=True, slots=True)
class LineChanges:
    """Line changes in order, with an index, because hundreds of hunks look for the changes near them."""

    changes: Sequence[LineChange]
    starts: Sequence[int]
    ends: Sequence[int]
    grown: Sequence[int]
    """By how many lines the text grows through the changes before each change, and at the end through all changes."""

    @classmethod
    def of(cls, changes: Sequence[LineChange]) -> "LineChanges":
        starts, ends, grown = zip(*changes, strict=True) if changes else ((), (), ())
        return cls(changes, starts, ends, [*accumulate(grown, initial=0)])

    def touching(self, start: int, end: int) -> tuple[Sequence[LineChange], int]:
        """The changes that touch lines [start, end] or their borders, and the growth by the changes above."""
        first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
        return self.changes[first:last], self.grown[first]


@dataclass(frozen=True)
class TextChange:
    """Lines [first, last) of `old` became `new`; the other lines did not change."""

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

    @property
    def growth(self) -> int:
        """By how many lines the text grew."""
        return sum(grown for _, _, grown in self.line_changes)

    def writes(self, start: int, end: int) -> bool:
        """Does it write any of the lines [start, end) of the new text, or remove lines from between them?"""
        above = 0
        for first, last, grown in self.line_changes:
            if first + above < end and start < last + above + grown:
                return True
            above += grown
        return False

    def removes(self, hunk: ReviewHunk) -> bool:
        """Are the lines that were in the place of the hunk removed, with nothing written instead?"""
        removals = [(start, end) for start, end, grown in self.line_changes if end - start + grown == 0]
        return hunk.size > 0 and any(start <= hunk.start and hunk.end <= end for start, end in removals)

    def find_taken_back(self, hunk: ReviewHunk) -> int | None:
        """Where the old lines of an applied hunk start, if the change wrote them at its place, maybe with others."""
        above = 0
        for start, end, grown in self.line_changes:
            if start <= hunk.start and hunk.end <= end:
                first = start + above
                written = self.new[first - self.first : end + above + grown - self.first]
                places = [] if hunk.new and _places_of(hunk.new, written) else _places_of(hunk.old, written)
                if places:
                    return first + min(places, key=lambda at: abs(start + at - hunk.start))
            above += grown
        return None

    def find_switched(self, switches: Iterable["Switch"]) -> dict[str, int]:
        """The hunks that were switched: id -> where their lines start now.

        Hunks near each other can be switched by one change, as when the editor undoes one accept of several.
        """
        found: dict[str, int] = {}
        groups: list[list[Switch]] = []
        for switch in sorted((item for item in switches if self._is_near(item)), key=lambda item: item.place):
            start = self._switched_by_one(switch)
            if start is not None:
                found[switch.hunk.id] = start
            elif groups and switch.start - groups[-1][-1].end <= NEAR:
                groups[-1].append(switch)
            else:
                groups.append([switch])
        for group in groups:
            for size in range(len(group), 1, -1):
                for first in range(len(group) - size + 1):
                    run = group[first : first + size]
                    if found.keys().isdisjoint(item.hunk.id for item in run):
                        found.update(self._switched_run(run))
        return found

    def _is_near(self, switch: "Switch") -> bool:
        if tuple(self.old[switch.start : switch.end]) != switch.present:
            return False
        reach = abs(switch.grown)
        return any(
            start <= switch.end + max(reach, abs(more)) and switch.start <= end + max(reach, abs(more))
            for start, end, more in self.line_changes
        )

    def _switched_by_one(self, switch: "Switch") -> int | None:
        """Where the lines start now, if one line change switched the hunk.

        If lines beside it look like its own, a diff can report the change some lines above or below, with the same
        result.
        """
        shift, reach = 0, abs(switch.grown)
        for change in self.line_changes:
            start, end, more = change
            near = start <= switch.end + reach and switch.start <= end + reach
            if more == switch.grown and near and self._reads(switch.start, switch.end, switch.wanted, change, shift):
                return switch.start + shift
            shift += more
        return None

    def _switched_run(self, run: Sequence["Switch"]) -> dict[str, int]:
        """Like `find_switched`, if all of these were switched together; else empty."""
        first, last = run[0].start, run[-1].end
        wanted: list[str] = []
        places = {}
        at = first
        for switch in run:
            wanted += self.old[at : switch.start]
            places[switch.hunk.id] = first + len(wanted)
            wanted += switch.wanted
            at = switch.end
        for reach in (0, sum(abs(switch.grown) for switch in run)):
            beside = [item for item in self.line_changes if item[0] <= last + reach and first <= item[1] + reach]
            if not beside:
                continue
            shift = sum(more for start, _, more in self.line_changes if start < beside[0][0])
            change = (beside[0][0], beside[-1][1], sum(more for _, _, more in beside))
            if change[2] == len(wanted) - (last - first) and self._reads(first, last, wanted, change, shift):
                return {hunk_id: place + shift for hunk_id, place in places.items()}
        return {}

    def _reads(self, first: int, last: int, wanted: Sequence[str], change: LineChange, shift: int) -> bool:
        """Are the lines around the change the same as the old lines with `wanted` in the place of [first, last)?"""
        start, end, more = change
        low, high = min(start, first), max(end, last)
        head, tail = self.old[low : max(low, self.first)], self.old[min(high, self.last) : high]  # outside the region
        offset = shift - self.first
        inside = self.new[max(low, self.first) + offset : min(high, self.last) + offset + more]
        return [*head, *inside, *tail] == [*self.old[low:first], *wanted, *self.old[last:high]]


@dataclass(frozen=True, slots=True)
class Switch:
    """A possible switch of a hunk: the lines `present` at its place would become `wanted`."""

    hunk: ReviewHunk
    present: tuple[str, ...]
    wanted: tuple[str, ...]

    @property
    def place(self) -> tuple[int, ...]:
        return self.hunk.place

    @property
    def start(self) -> int:
        return self.hunk.start

    @property
    def end(self) -> int:
        return self.hunk.end

    @property
    def grown(self) -> int:
        return len(self.wanted) - len(self.present)


def _places_of(some: Sequence[str], lines: Sequence[str]) -> list[int]:
    return [at for at in range(len(lines) - len(some) + 1) if tuple(lines[at : at + len(some)]) == some]
