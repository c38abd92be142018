"""Finds the blocks of a file that the `@@` lines of a patch name. Pure."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from tark_lsp.workspace.placing.deadline import check_time, checked_each
from tark_lsp.workspace.placing.searching import TextLines

BRACKETS = tuple("(){}[]")
"""A line that begins with one of them opens or closes the block of the line above. It begins no new block."""
END = chr(0x10FFFF)


def width_of(line: str) -> int:
    """The width of a line's indentation, in columns."""
    shown = line.expandtabs()
    return len(shown) - len(shown.lstrip())


class Scopes:
    """Finds blocks by their first line. Results are cached, because a patch can have thousands of chunks."""

    def __init__(self, text: TextLines) -> None:
        self._lines = text.lines
        self._ends: dict[int, int | None] = {}

    @cached_property
    def _sorted(self) -> list[tuple[str, int]]:
        """Each line without its indentation, with its number from 0."""
        return sorted((line.strip(), at) for at, line in enumerate(self._lines))

    @cached_property
    def _widths(self) -> list[int]:
        """The indentation of each line; -1 for blank lines."""
        return [width_of(line) if line.strip() else -1 for line in self._lines]

    def of_headers(self, headers: Sequence[str]) -> list[tuple[int, int]] | None:
        """The ranges of lines in which a chunk with these headers can begin. None if a header is not found."""
        scopes = [(0, len(self._lines) + 1)]
        for header in headers:
            check_time()
            named = [at for at in self._named(header.strip()) if any(a <= at < b for a, b in scopes)]
            if not named:
                return None
            last = max(end for _, end in scopes)
            scopes = [(at, self._end_of_block(at, last)) for at in named]
        return scopes

    def _named(self, header: str) -> list[int]:
        """The lines that equal the header; if there are none, those that begin with it."""
        first, last = bisect_left(self._sorted, (header, -1)), bisect_left(self._sorted, (header + END, -1))
        some = self._sorted[first:last]
        return [at for line, at in some if line == header] or sorted(
            at for line, at in some if begins_with(line, header)
        )

    def _end_of_block(self, at: int, last: int) -> int:
        """The end of the block that begins at line `at`, including its closing line; `last` if there is no block."""
        if at not in self._ends:
            self._ends[at] = self._find_end(at)
        end = self._ends[at]
        return last if end is None else min(last, end)

    def _find_end(self, at: int) -> int | None:
        width, inside = self._widths[at], False
        for number in range(at + 1, len(self._lines)):
            checked_each(number)
            if self._widths[number] < 0:
                continue
            if self._widths[number] > width:
                inside = True
            elif not self._lines[number].strip().startswith(BRACKETS):
                return number + 1 if inside else None
        return None


def begins_with(line: str, header: str) -> bool:
    """Whether the line begins with the header as whole words: `def run` fits `def run(self):`, not `def runner():`."""
    after = line.removeprefix(header)[:1]
    return line.startswith(header) and not (header[-1:].isidentifier() and (after.isalnum() or after == "_"))
