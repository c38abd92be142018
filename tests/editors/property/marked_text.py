"""A text whose lines have identities, so that the right line is told from one that only looks like it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from tark_lsp.workspace.lines import changed_ranges, split_lines

Mark = int


@dataclass(slots=True)
class MarkedText:
    lines: list[str]
    marks: list[Mark]
    fresh: "count[int]" = field(repr=False)

    @classmethod
    def of(cls, text: str, fresh: "count[int]") -> "MarkedText":
        lines = split_lines(text)
        return cls(lines, [next(fresh) for _ in lines], fresh)

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def offset(self, line: int, column: int = 0) -> int:
        return sum(map(len, self.lines[:line])) + column

    def type(self, start: int, end: int, new: str) -> set[Mark]:
        """Replace text[start:end] as a person does; the marks of lines that are not what they were.

        A line that is still whole is the same line; what began in a line that was changed goes on in it.
        """
        before = self.text
        after = split_lines(before[:start] + new + before[end:])
        top = at = 0
        for line in self.lines:
            whole = at + len(line) <= start and line.endswith(("\n", "\r"))
            begun = at < start == end == at + len(line.rstrip("\r\n")) and new.startswith(("\n", "\r"))
            if not (whole or begun) or top >= len(after) or after[top] != line:
                break
            at += len(line)
            top += 1
            if begun:
                break
        bottom, at = 0, len(before)
        while bottom < min(len(self.lines), len(after)) - top:
            line = self.lines[-1 - bottom]
            if at - len(line) < end or after[-1 - bottom] != line:
                break
            at -= len(line)
            bottom += 1
        last = len(self.lines) - bottom
        old = self.marks[top:last]
        size = len(after) - top - bottom
        self.lines = after
        self.marks[top:last] = [*old[:1], *(next(self.fresh) for _ in range(size - len(old[:1])))][:size]
        return set(old)

    def put(self, start: int, end: int, new: Sequence[str], marks: Sequence[Mark] | None = None) -> None:
        """Replace whole lines as the agent does; without `marks`, lines that are the same keep theirs."""
        if marks is None:
            marks = self.carried(start, end, new)
        self.lines[start:end] = new
        self.marks[start:end] = marks
        at = start + len(new) - 1
        if 0 <= at < len(self.lines) - 1 and not self.lines[at].endswith(("\n", "\r")):
            self.lines[at : at + 2] = ["".join(self.lines[at : at + 2])]
            del self.marks[at + 1]

    def carried(self, start: int, end: int, new: Sequence[str]) -> list[Mark]:
        marks: list[Mark] = []
        at = 0
        old = self.lines[start:end]
        for i1, i2, j1, j2 in [*changed_ranges(old, new), (len(old), len(old), len(new), len(new))]:
            marks += self.marks[start + at : start + i1]
            marks += [next(self.fresh) for _ in range(j2 - j1)]
            at = i2
        return marks
