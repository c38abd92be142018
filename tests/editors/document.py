"""The text of one document in the in-memory editor: positions in the negotiated encoding, edits, versions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

UNITS: Mapping[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}


class EditError(Exception):
    """An edit no editor could apply: out of the text, or overlapping another of the same list."""


@dataclass(slots=True)
class Document:
    """`encoding` is that of characters in positions; offsets count code points of `text`."""

    uri: str
    text: str
    encoding: str
    version: int = 1
    unsent: list[dict[str, Any]] = field(default_factory=list)
    """Changes the server has not been told of yet, as `contentChanges`."""

    def line(self, number: int) -> str:
        return self.text.split("\n")[number]

    def offset(self, position: Mapping[str, int]) -> int:
        """A character past the line's end means its end, as LSP says. Raises EditError for a line past the end."""
        lines = self.text.split("\n")
        number = position["line"]
        if number == len(lines) and position["character"] == 0:
            return len(self.text)
        if number >= len(lines):
            raise EditError(f"line {number} of {len(lines)}")
        line, units = lines[number], 0
        start = sum(len(other) + 1 for other in lines[:number])
        for index, character in enumerate(line):
            if units >= position["character"]:
                return start + index
            units += UNITS[self.encoding](character)
        return start + len(line)

    def position(self, offset: int) -> dict[str, int]:
        before = self.text[:offset]
        last = before.rpartition("\n")[2]
        return {"line": before.count("\n"), "character": UNITS[self.encoding](last)}

    def range(self, start: int, end: int) -> dict[str, dict[str, int]]:
        return {"start": self.position(start), "end": self.position(end)}

    def find(self, words: str) -> dict[str, dict[str, int]]:
        """The range of `words`, which stand in the text exactly once."""
        assert self.text.count(words) == 1, f"{words!r} stands {self.text.count(words)} times in the text"
        start = self.text.index(words)
        return self.range(start, start + len(words))

    def edit(self, edits: Sequence[Mapping[str, Any]]) -> None:
        """Apply TextEdits, all meant for the text as it is; one new version. Raises EditError, then nothing changed."""
        spans = []
        for order, edit in enumerate(edits):
            start, end = self.offset(edit["range"]["start"]), self.offset(edit["range"]["end"])
            if start > end:
                raise EditError(f"start after end: {edit['range']}")
            spans.append((start, end, order, str(edit["newText"])))
        spans.sort()
        for (_, end, _, _), (start, _, _, _) in pairwise(spans):
            if start < end:
                raise EditError("overlapping edits")
        for start, end, _, new_text in reversed(spans):
            self.unsent.append({"range": self.range(start, end), "text": new_text})
            self.text = self.text[:start] + new_text + self.text[end:]
        self.version += 1

    def take_unsent(self) -> list[dict[str, Any]]:
        changes, self.unsent = self.unsent, []
        return changes
