"""LSP positions, in UTF-16, of the model editor's text."""

from collections.abc import Sequence
from typing import Any

from tark_lsp.workspace.lines import split_lines

Json = dict[str, Any]


Place = tuple[int, int]
"""A line, and a character in it, in code points."""


def lines_of(lines: Sequence[str], start: Place, end: Place, text: str) -> tuple[int, int, list[str]]:
    """What `text` in place of a range makes of whole lines: which, and what they become."""
    (first, head), (last, tail) = start, end
    new = (lines[first][:head] if head else "") + text
    goes_on = bool(new) and not new.endswith(("\n", "\r"))
    if tail or (goes_on and last < len(lines)):
        new += lines[last][tail:]
        last += 1
    return first, last, split_lines(new)


def place_in(lines: Sequence[str], place: Json) -> Place:
    """A place past the end of a line, or of the text, is that end."""
    if place["line"] >= len(lines):
        unended = bool(lines) and not lines[-1].endswith(("\n", "\r"))
        return (len(lines) - 1, len(lines[-1])) if unended else (len(lines), 0)
    body = lines[place["line"]].rstrip("\r\n").encode("utf-16-le")
    return place["line"], len(body[: 2 * place["character"]].decode("utf-16-le", "ignore"))


def position(text: str, offset: int) -> Json:
    before = split_lines(text[:offset])
    if not before or before[-1].endswith(("\n", "\r")):
        return {"line": len(before), "character": 0}
    return {"line": len(before) - 1, "character": len(before[-1].encode("utf-16-le")) // 2}
