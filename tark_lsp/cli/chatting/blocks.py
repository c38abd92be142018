"""Cuts Markdown, while it streams, into blocks that can be drawn for good, and the one still being written. Pure.

Whole lines alone decide (CommonMark, "Blocks and inlines"), so that the blocks are the same however the stream is cut.
"""

import re

from tark_lsp.server.chat.fences import Fences

ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")


class Blocks:
    """Blocks are top-level ones, without the blank lines around them; a list is one, with all its items."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._begun: list[str] = []
        self._fences = Fences()
        self._after_blank = False

    def feed(self, delta: str) -> list[str]:
        """The blocks that are finished now."""
        *whole, rest = delta.split("\n")
        if not whole:
            self._begun.append(rest)
            return []
        whole[0] = "".join([*self._begun, whole[0]])
        self._begun = [rest]
        return [block for line in whole for block in self._line(line.removesuffix("\r"))]

    def end(self) -> list[str]:
        """All that is left, finished or not; the next text begins anew."""
        blocks = self.feed("\n")
        blocks += self._take()
        self._fences = Fences()
        self._begun = []
        return blocks

    def tail(self, lines: int, characters: int) -> str:
        """At most so much of the end of the block being written."""
        begun = "".join(self._begun)
        return "\n".join([*self._lines[-lines:], begun][-lines:] if begun else self._lines[-lines:])[-characters:]

    def _line(self, line: str) -> list[str]:
        inside = bool(self._fences.closing)
        code = self._fences.feed(line)
        blank = not inside and not line.strip()
        if blank and not self._lines:
            return []
        opens = code and not inside and not line.startswith(" ")
        done = self._take() if opens or (self._after_blank and not blank and not self._goes_on(line)) else []
        self._lines.append(line)
        self._after_blank = blank
        if inside and not self._fences.closing and not self._lines[0].startswith((" ", "\t")) and self._is_code():
            done += self._take()
        return done

    def _is_code(self) -> bool:
        return self._lines[0].startswith(("```", "~~~"))

    def _goes_on(self, line: str) -> bool:
        """After a blank line: does this one still belong to the block before? What is indented does, and the next item
        of a list."""
        if line.startswith((" ", "\t")):
            return True
        return bool(ITEM.match(line) and ITEM.match(self._lines[0]))

    def _take(self) -> list[str]:
        block = "\n".join(self._lines).rstrip("\n")
        self._lines = []
        self._after_blank = False
        return [block] if block.strip() else []
