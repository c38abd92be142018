"""A text for a grammar: UTF-8 with one kind of line ending. Maps bytes back to lines and columns."""

from bisect import bisect_right
from functools import cached_property

LONG_HEAD = 400
"""Bytes. Limit for the text before a definition on its line."""


class Source:
    """Lines end as in LSP. The conversion to bytes does not change lines and columns."""

    def __init__(self, text: str) -> None:
        # A lone CR ends a line for editors, but not for grammars. Some grammars take a NUL as the end of the file.
        self.text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")
        # A lone surrogate becomes `?`, which is also one code point: no grammar accepts a surrogate.
        self.data = self.text.encode("utf-8", "replace")
        self._last = (-1, 0)
        self._is_ascii = len(self.data) == len(self.text)

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their endings. The empty text after the last ending is a line, too."""
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.data.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts[:-1]

    def line(self, byte: int) -> int:
        """The line, from 1."""
        return bisect_right(self._starts, byte)

    def line_and_column(self, byte: int) -> tuple[int, int]:
        """The line from 1, the column from 0 in code points."""
        line = bisect_right(self._starts, byte)
        start = self._starts[line - 1]
        if self._is_ascii:
            return line, byte - start
        # Positions are requested in ascending order. Counting from the last one keeps the time linear for long lines.
        last, column = self._last if start <= self._last[0] <= byte else (start, 0)
        column += len(self.data[last:byte].decode("utf-8", "ignore"))
        self._last = byte, column
        return line, column

    def last_line(self, start: int, end: int) -> int:
        """The line of the last byte of a range, without trailing whitespace."""
        return self.line(start + len(self.data[start:end].rstrip()) - 1) if end > start else self.line(start)

    def between(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def before_on_line(self, byte: int) -> str:
        """The text before a byte on its line; at most its last LONG_HEAD bytes."""
        return self.between(max(self._starts[self.line(byte) - 1], byte - LONG_HEAD), byte)
