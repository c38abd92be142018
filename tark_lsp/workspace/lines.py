"""Lines of text, and the line changes between two texts (a diff); pure."""

import io
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from typing import AnyStr

LARGE_GAP = 250_000
"""Old lines times new lines. Above this, difflib ignores frequent lines, so that its time is not quadratic."""

PIECE = 500_000
"""Characters of a text that are split at once."""
PIECE_LINES = 20_000
"""Lines that are counted at once."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Replaces the whole lines `old` of a base text, from line `start` (from 0), by the lines `new`."""

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    order: int = 0
    """If hunks begin at the same line, because some only insert, the hunk with the lowest order is above."""

    @property
    def end(self) -> int:
        """The first line after the replaced ones."""
        return self.start + len(self.old)

    @property
    def size(self) -> int:
        """The number of lines of the longer side."""
        return max(len(self.old), len(self.new))

    @property
    def old_text(self) -> str:
        return "".join(self.old)

    @property
    def new_text(self) -> str:
        return "".join(self.new)


def split_lines(text: str) -> list[str]:
    """Split at `\\r\\n`, `\\n` and `\\r` only, as LSP does (`str.splitlines` knows ten more endings). Keeps the
    endings."""
    lines: list[str] = []
    at = 0
    while at < len(text):  # in pieces: one long step in C would stop all threads
        end = text.rfind("\n", at, at + PIECE) + 1 or text.find("\n", at + PIECE) + 1 or len(text)
        piece = text[at:end]
        lines += io.StringIO(piece, newline="") if len(piece) <= PIECE or "\r" in piece else (piece,)
        at = end
    return lines


def ending_of(line: str) -> str:
    """The ending of the line; empty for a last line without one."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1:] if line.endswith(("\n", "\r")) else ""


def fit_ending(hunk: Hunk, lines: Sequence[str]) -> Hunk:
    """The hunk with an ending for its last line if other lines follow.

    The hunk may have been made for the end of the file, or the user may have typed its lines.
    """
    if not hunk.new or ending_of(hunk.new[-1]) or hunk.end >= len(lines):
        return hunk
    ending = next((ending for line in (*hunk.old, *lines[hunk.end :]) if (ending := ending_of(line))), "\n")
    return replace(hunk, new=(*hunk.new[:-1], hunk.new[-1] + ending))


def count_lines(text: str) -> int:
    """The number of line endings in `text`."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def common_prefix(old: AnyStr, new: AnyStr) -> int:
    """The length of the common beginning. Bisecting compares slices in C; a loop over characters would be slow."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(old: AnyStr, new: AnyStr, limit: int) -> int:
    """The length of the common end, at most `limit`."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def line_changes(old: str, new: str) -> list[Hunk]:
    """The changes from `old` to `new`, in order, with at least one common line between them.

    The common beginning and end are cut off as text first, so that one changed line in a big file costs little.
    """
    if old == new:
        return []
    head = _line_start(old, new, common_prefix(old, new))
    tail = _tail(old, new, head)
    first = count_lines(old[:head])
    old_lines = split_lines(old[head : len(old) - tail])
    new_lines = split_lines(new[head : len(new) - tail])
    hunks = [
        Hunk(first + i1, tuple(old_lines[i1:i2]), tuple(new_lines[j1:j2]))
        for i1, i2, j1, j2 in changed_ranges(old_lines, new_lines)
    ]
    if hunks[-1].end == first + len(old_lines):
        hunks[-1] = _slide_into(hunks[-1], io.StringIO(old[len(old) - tail :], newline=""))
    return hunks


def sure_changes(changes: list[Hunk], old: str, new: str) -> list[Hunk]:
    """The `line_changes` of these texts, joined over lines that are probably common by chance, like blank lines.

    These are common lines between two changes that are both longer, if none of the lines is one of the `telling_lines`.
    """
    if all(after.start - before.end >= min(before.size, after.size) for before, after in pairwise(changes)):
        return changes
    lines, telling = split_lines(old), telling_lines(old, new)
    joined = changes[:1]
    for change in changes[1:]:
        last = joined[-1]
        between = tuple(lines[last.end : change.start])
        if len(between) < min(last.size, change.size) and telling.isdisjoint(between):
            joined[-1] = Hunk(last.start, last.old + between + change.old, last.new + between + change.new)
        else:
            joined.append(change)
    return joined


def telling_lines(old: str, new: str) -> set[str]:
    """The lines that contain a word and that both texts have exactly once."""
    counts, counts_new = _counted(split_lines(old)), _counted(split_lines(new))
    return {line for line, count in counts.items() if count == counts_new[line] == 1 and any(map(str.isalnum, line))}


def _counted(lines: Sequence[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for at in range(0, len(lines), PIECE_LINES):  # in pieces, as in `split_lines`
        counts.update(lines[at : at + PIECE_LINES])
    return counts


def _line_start(old: str, new: str, at: int) -> int:
    """The last offset up to `at` at which a line begins in both texts, which are equal up to `at`."""
    while at > 0:
        at = max(old.rfind("\n", 0, at), old.rfind("\r", 0, at)) + 1
        if at == 0 or old[at - 1] == "\n" or "\n" not in (old[at : at + 1], new[at : at + 1]):
            return at
        at -= 1  # no line begins between \r and \n
    return 0


def _tail(old: str, new: str, head: int) -> int:
    """The number of characters in the common whole lines at the end, without what is before `head`."""
    tail = common_suffix(old, new, min(len(old), len(new)) - head)
    start = len(old) - tail
    if tail and not (_begins_line(old, start) and _begins_line(new, len(new) - tail)):
        newline = old.find("\n", start)
        carriage = old.find("\r", start)
        ends = [at for at in (newline, carriage) if at >= 0]
        if not ends:
            return 0
        at = min(ends)
        start = at + (2 if old[at : at + 2] == "\r\n" else 1)
        tail = len(old) - start
    return tail


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n" or (text[at - 1] == "\r" and text[at : at + 1] != "\n")


def changed_ranges(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """`(i1, i2, j1, j2)` for each `old[i1:i2]` that became `new[j1:j2]`, in order, with common lines between them.

    If only white space changed, as by a formatter, each line is still at its place: a line that got the indentation of
    another line does not count as the other line.
    """
    if len(old) == len(new) and all(one.strip() == other.strip() for one, other in zip(old, new, strict=True)):
        runs = (tuple(run) for differs, run in groupby(range(len(old)), lambda at: old[at] != new[at]) if differs)
        return [(run[0], run[-1] + 1, run[0], run[-1] + 1) for run in runs]
    changes: list[tuple[int, int, int, int]] = []
    i = j = 0
    for a, b, size in [*_matches(old, new), (len(old), len(new), 0)]:
        if (a, b) != (i, j):
            changes.append((i, a, j, b))
        i, j = a + size, b + size
    return _slide(changes, old, new)


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """Blocks `(i, j, size)` of equal lines, in order. Lines that occur once in each text are anchors (patience
    diff)."""
    found: list[tuple[int, int, int]] = []
    gaps = [(0, len(old), 0, len(new))]
    while gaps:
        i1, i2, j1, j2 = gaps.pop()
        i, j = i1, j1
        while i < i2 and j < j2 and old[i] == new[j]:
            i, j = i + 1, j + 1
        found.append((i1, j1, i - i1))
        i1, j1 = i, j
        end = i2
        while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1]:
            i2, j2 = i2 - 1, j2 - 1
        found.append((i2, j2, end - i2))
        if i1 == i2 or j1 == j2:
            continue
        anchors = _anchors(old[i1:i2], new[j1:j2])
        if anchors:
            i, j = i1, j1
            for a, b in anchors:
                if i < i1 + a and j < j1 + b:
                    gaps.append((i, i1 + a, j, j1 + b))
                found.append((i1 + a, j1 + b, 1))
                i, j = i1 + a + 1, j1 + b + 1
            gaps.append((i, i2, j, j2))
        else:
            large = (i2 - i1) * (j2 - j1) > LARGE_GAP
            matcher = SequenceMatcher(None, old[i1:i2], new[j1:j2], autojunk=large)
            found.extend((i1 + a, j1 + b, size) for a, b, size in matcher.get_matching_blocks())
    return sorted(block for block in found if block[2])


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest increasing sequence of the lines that occur exactly once in each text."""
    counts_old, counts_new = _counted(old), _counted(new)
    places = {line: j for j, line in enumerate(new) if counts_new[line] == 1 and counts_old[line] == 1}
    pairs = [(i, places[line]) for i, line in enumerate(old) if line in places]
    if all(before[1] < after[1] for before, after in pairwise(pairs)):
        return pairs
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        before.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(j)
            top_pairs.append(index)
        else:
            tops[pile] = j
            top_pairs[pile] = index
    chain: list[tuple[int, int]] = []
    index = top_pairs[-1] if top_pairs else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _slide_into(hunk: Hunk, following: Iterable[str]) -> Hunk:
    """Like `_slide`, for the last hunk and the common lines that follow it."""
    if hunk.old and hunk.new:
        return hunk
    lines = deque(hunk.old or hunk.new)
    start = hunk.start
    for line in following:
        if line != lines[0]:
            break
        lines.rotate(-1)
        start += 1
    return Hunk(start, tuple(lines), ()) if hunk.old else Hunk(start, (), tuple(lines))


def _slide(
    changes: list[tuple[int, int, int, int]], old: Sequence[str], new: Sequence[str]
) -> list[tuple[int, int, int, int]]:
    """Move each pure insertion or removal to its last possible place, so that two diffs agree on the place."""
    slid: list[tuple[int, int, int, int]] = []
    limit = len(old)
    for i1, i2, j1, j2 in reversed(changes):
        while i2 < limit and ((i1 == i2 and new[j1] == new[j2]) or (j1 == j2 and old[i1] == old[i2])):
            i1, i2, j1, j2 = i1 + 1, i2 + 1, j1 + 1, j2 + 1
        if slid and i2 == slid[-1][0]:
            _, i2, _, j2 = slid.pop()
        slid.append((i1, i2, j1, j2))
        limit = i1
    return slid[::-1]
