"""Splits streaming Markdown into finished blocks and the unfinished last one. Pure.

Only whole lines are parsed (CommonMark, "Blocks and inlines"), so the blocks do not depend on how the stream is cut.
"""

import re

from tark_lsp.server.prompting.fences import Fences

ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")


class MarkdownBlocks:
    """A block is a top-level block without the blank lines around it. A list with all its items is one block."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line_start: list[str] = []
        self._fences = Fences()
        self._after_blank = False

    def feed_text(self, delta: str) -> list[str]:
        """Returns the blocks that are now finished."""
        *whole, rest = delta.split("\n")
        if not whole:
            self._line_start.append(rest)
            return []
        whole[0] = "".join([*self._line_start, whole[0]])
        self._line_start = [rest]
        return [block for line in whole for block in self._add_line(line.removesuffix("\r"))]

    def finish_text(self) -> list[str]:
        """Returns the remaining blocks, finished or not. The next text starts a new document."""
        blocks = self.feed_text("\n")
        blocks += self._take_block()
        self._fences = Fences()
        self._line_start = []
        return blocks

    def tail(self, lines: int, characters: int) -> str:
        """The end of the unfinished block: at most this many lines and characters."""
        line_start = "".join(self._line_start)
        return "\n".join([*self._lines[-lines:], line_start][-lines:] if line_start else self._lines[-lines:])[
            -characters:
        ]

    def unfinished(self, most: int) -> str:
        """The whole unfinished block; "" if it has more than `most` characters."""
        lines = [*self._lines, "".join(self._line_start)]
        return "\n".join(lines) if sum(map(len, lines)) + len(lines) <= most else ""

    def _add_line(self, line: str) -> list[str]:
        inside = bool(self._fences.closing)
        code = self._fences.add_line(line)
        blank = not inside and not line.strip()
        if blank and not self._lines:
            return []
        opens = code and not inside and not line.startswith(" ")
        done = (
            self._take_block() if opens or (self._after_blank and not blank and not self._continues_block(line)) else []
        )
        self._lines.append(line)
        self._after_blank = blank
        if inside and not self._fences.closing and not self._lines[0].startswith((" ", "\t")) and self._is_code():
            done += self._take_block()
        return done

    def _is_code(self) -> bool:
        return self._lines[0].startswith(("```", "~~~"))

    def _continues_block(self, line: str) -> bool:
        """Whether a line after a blank line continues the block: an indented line, or the next item of a list."""
        if line.startswith((" ", "\t")):
            return True
        return bool(ITEM.match(line) and ITEM.match(self._lines[0]))

    def _take_block(self) -> list[str]:
        block = "\n".join(self._lines).rstrip("\n")
        self._lines = []
        self._after_blank = False
        return [block] if block.strip() else []
