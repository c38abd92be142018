"""A text as a grammar reads it: UTF-8, one kind of line ending, and the way back from bytes to lines and columns."""

from bisect import bisect_right
from functools import cached_property

LONG_HEAD = 400
"""Bytes. No words before a definition on its line are longer."""


class Source:
    """Lines end as in LSP. Neither a line nor a column moves when the text becomes bytes."""

    def __init__(self, text: str) -> None:
        # A lone CR ends a line for editors, but not for grammars; for some of them a NUL is the end of the file.
        self.text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")
        # A surrogate becomes `?`: no grammar takes half a character, and it is one code point as well.
        self.data = self.text.encode("utf-8", "replace")
        self._last = (-1, 0)
        self._is_ascii = len(self.data) == len(self.text)

    @cached_property
    def lines(self) -> list[str]:
        """Without their endings. The empty rest behind the last ending is a line as well."""
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.data.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts[:-1]

    def line(self, byte: int) -> int:
        """From 1."""
        return bisect_right(self._starts, byte)

    def line_and_column(self, byte: int) -> tuple[int, int]:
        """The line from 1, the column from 0 in code points."""
        line = bisect_right(self._starts, byte)
        start = self._starts[line - 1]
        if self._is_ascii:
            return line, byte - start
        # Places are asked for in their order: counting on from the last one keeps a line of 1 MB linear.
        last, column = self._last if start <= self._last[0] <= byte else (start, 0)
        column += len(self.data[last:byte].decode("utf-8", "ignore"))
        self._last = byte, column
        return line, column

    def last_line(self, start: int, end: int) -> int:
        """The line of the last byte of a range that is no line ending."""
        return self.line(start + len(self.data[start:end].rstrip()) - 1) if end > start else self.line(start)

    def between(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def before_on_line(self, byte: int) -> str:
        """What stands before a byte on its line, if it is short; else its last characters."""
        return self.between(max(self._starts[self.line(byte) - 1], byte - LONG_HEAD), byte)
