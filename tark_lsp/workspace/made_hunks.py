"""Finds the hunks of an edit that a newer text already has, and the changes near a hunk; pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from tark_lsp.workspace.lines import Hunk


@dataclass(frozen=True, slots=True)
class ChangesInOrder:
    """Changes in order, with an index, because thousands of hunks may look for changes near them."""

    changes: Sequence[Hunk]
    starts: Sequence[int]
    ends: Sequence[int]
    grown: Sequence[int]
    """By how many lines the text grows through the changes before each change, and at the end through all changes."""

    @classmethod
    def of(cls, changes: Sequence[Hunk]) -> "ChangesInOrder":
        grown = accumulate((len(change.new) - len(change.old) for change in changes), initial=0)
        return cls(changes, [change.start for change in changes], [change.end for change in changes], [*grown])

    def growth_above(self, line: int) -> int:
        return self.grown[bisect_right(self.ends, line)]

    def touching(self, hunk: Hunk) -> Sequence[Hunk]:
        """The changes that touch the hunk, including changes that end where it begins, or begin where it ends."""
        return self.changes[bisect_left(self.ends, hunk.start) : bisect_right(self.starts, hunk.end)]


def made_hunks(hunks: Sequence[Hunk], changes: list[Hunk], sure: list[Hunk], lines: Sequence[str]) -> set[Hunk]:
    """The hunks that are already made. Several hunks that touch can be made as one change."""

    every, certain = ChangesInOrder.of(changes), ChangesInOrder.of(sure)

    def made(hunk: Hunk) -> bool:
        return _is_applied(hunk, every, lines) if hunk.new else _is_removed(hunk, certain.touching(hunk))

    found: set[Hunk] = set()
    for run in runs_of_touching(hunks):
        for size in range(len(run), 1, -1):
            for first in range(len(run) - size + 1):
                part = run[first : first + size]
                if found.isdisjoint(part) and made(as_one(part)):
                    found.update(part)
        found.update(hunk for hunk in run if hunk not in found and made(hunk))
    return found


def runs_of_touching(hunks: Sequence[Hunk]) -> list[list[Hunk]]:
    """Groups of hunks, each of which begins at the line where the one before it ends."""
    runs: list[list[Hunk]] = []
    for hunk in hunks:
        if runs and runs[-1][-1].end == hunk.start:
            runs[-1].append(hunk)
        else:
            runs.append([hunk])
    return runs


def as_one(run: Sequence[Hunk]) -> Hunk:
    """Hunks that touch, as one."""
    old = tuple(line for hunk in run for line in hunk.old)
    new = tuple(line for hunk in run for line in hunk.new)
    return Hunk(run[0].start, old, new)


def collide(change: Hunk, hunk: Hunk) -> bool:
    """Whether two changes of one text replace the same lines, or insert at the same place."""
    if not change.old and not hunk.old:
        return change.start == hunk.start
    return change.start < hunk.end and hunk.start < change.end


def growth_of(changes: Iterable[Hunk]) -> int:
    return sum(len(change.new) - len(change.old) for change in changes)


def _is_removed(hunk: Hunk, changes: Sequence[Hunk]) -> bool:
    """Whether one of the changes only removed lines, among them the lines that the hunk removes."""
    return any(change.start <= hunk.start and hunk.end <= change.end and not change.new for change in changes)


def _is_applied(hunk: Hunk, changes: ChangesInOrder, lines: Sequence[str]) -> bool:
    """Whether changes turned the hunk's lines into what the hunk turns them into."""
    touching = changes.touching(hunk)
    colliding = [change for change in touching if collide(change, hunk)]
    for some in (touching, colliding):
        if some and hunk.start <= some[0].start and some[-1].end <= hunk.end:
            start = hunk.start + changes.growth_above(hunk.start) - growth_of(c for c in some if c.end <= hunk.start)
            if tuple(lines[start : start + len(hunk.old) + growth_of(some)]) == hunk.new:
                return True
    return False
