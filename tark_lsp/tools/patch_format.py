"""Parses a patch in the `*** Begin Patch` format (docs/tools.md) into its sections. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tark_lsp.errors import ToolError

BEGIN, END, END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
SECTION = re.compile(r"\*\*\* (Add|Update|Delete) File:")
MOVE = "*** Move to:"
NUMBERS = re.compile(r"@@(?:\s*-\d+(?:,\d+)?\s+\+\d+(?:,\d+)?\s*@@)?")
"""The line numbers of a unified diff are ignored: models get them wrong, and the text determines the place."""

FENCE = re.compile(r"(`{3,}|~{3,})[\w-]*\s*")
HERE_DOCUMENT = re.compile(r"(?:\$ )?apply_patch\s*<<-?\s*(['\"]?)(\w+)\1\s*")

SHOWN = """\
*** Begin Patch
*** Update File: src/a.py
@@ class A:
 a line that stays
-a line that is removed
+a line that is added
*** Add File: src/b.py
+its first line
*** Delete File: src/c.py
*** Update File: src/d.py
*** Move to: src/e.py
*** End Patch"""

Action = Literal["add", "update", "delete"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The lines `old` become `new`, both without line endings. `line`: where the chunk begins in the patch, from 1.

    `headers`: the text after each `@@`, outermost first. `at_end`: its last old line is the last one of the file.
    `before`, `after`: how many lines at its beginning and end stay unchanged.
    """

    line: int
    headers: tuple[str, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]
    at_end: bool
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Section:
    """What the patch does to one file. `text`: the whole text of an added file."""

    action: Action
    path: str
    target: str | None = None
    text: str = ""
    chunks: tuple[Chunk, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.action.capitalize()} File: {self.path}"


def parse_patch(text: str) -> tuple[Section, ...]:
    """Raises ToolError `invalid_arguments`, with the line and the format, if the text is not such a patch."""
    lines = text.replace("\r\n", "\n").split("\n")
    first, last = inside_fences(lines)
    first, last = _inside(lines, first, last)
    sections: list[Section] = []
    at = first
    while at < last:
        found = section_of(lines[at])
        if found is None:
            if not lines[at].strip():
                at += 1
                continue
            raise _malformed(at, lines[at], "a section begins with *** Add File:, *** Update File: or *** Delete File:")
        begin, end = at, _end_of_section(lines, at + 1, last)
        (action, path), body = found, range(at + 1, end)
        at = end
        if action == "Add":
            sections.append(Section("add", path, text=_added(lines, body)))
        elif action == "Delete":
            _require_blank(lines, body)
            sections.append(Section("delete", path))
        else:
            sections.append(_update(lines, begin, path, body))
    if not sections:
        raise _malformed(first, "", "the patch has no section")
    return tuple(sections)


def section_of(line: str) -> tuple[str, str] | None:
    """The action and the path of a line that begins a section."""
    found = SECTION.match(line)
    path = line[found.end() :].strip() if found else ""
    return (found[1], path) if found and path else None


def _target_of(line: str) -> str | None:
    return line.removeprefix(MOVE).strip() or None if line.startswith(MOVE) else None


def header_of(line: str) -> str | None:
    """The text after `@@`; None if the line does not begin with it."""
    found = NUMBERS.match(line)
    return line[found.end() :].strip().removesuffix("@@").rstrip() if found else None


def inside_fences(lines: Sequence[str]) -> tuple[int, int]:
    """The first and the last line (exclusive) without the fences that models put around a patch."""
    first, last = _trimmed(lines, 0, len(lines))
    closing: list[str] = []
    while first < last:
        fence, document = FENCE.fullmatch(lines[first]), HERE_DOCUMENT.fullmatch(lines[first])
        if fence is None and document is None:
            break
        closing.append(fence[1] if fence else document[2] if document else "")
        first, last = _trimmed(lines, first + 1, last)
    for close in closing:  # the outermost fence is the last line
        if first < last and lines[last - 1].rstrip() == close:
            first, last = _trimmed(lines, first, last - 1)
    return first, last


def _inside(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """The first and the last line (exclusive) between the markers."""
    if first < last and lines[first].rstrip() == BEGIN:
        first += 1
    elif first == last or section_of(lines[first]) is None:
        raise _malformed(first, lines[first] if first < last else "", f"a patch begins with the line {BEGIN}")
    if first < last and lines[last - 1].rstrip() == END:
        last -= 1
    return first, last


def _trimmed(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    while first < last and not lines[first].strip():
        first += 1
    while first < last and not lines[last - 1].strip():
        last -= 1
    return first, last


def _end_of_section(lines: Sequence[str], at: int, last: int) -> int:
    for number in range(at, last):
        if section_of(lines[number]):
            return number
        if lines[number].rstrip() in (BEGIN, END):
            raise _malformed(number, lines[number], "one call takes one patch, and nothing can follow its end")
    return last


def _require_blank(lines: Sequence[str], body: range) -> None:
    for at in body:
        if lines[at].strip():
            raise _malformed(at, lines[at], "only the next section can follow *** Delete File:")


def _added(lines: Sequence[str], body: range) -> str:
    first, last = body.start, body.stop
    while first < last and not lines[last - 1].strip():
        last -= 1
    out = []
    for at in range(first, last):
        if lines[at] and not lines[at].startswith("+"):
            raise _malformed(at, lines[at], "each line of an added file begins with +")
        out.append(lines[at][1:] + "\n")
    return "".join(out)


def _update(lines: Sequence[str], begin: int, path: str, body: range) -> Section:
    at, end = body.start, body.stop
    moved = _target_of(lines[at]) if at < end else None
    if moved:
        at += 1
    if at + 1 < end and {_diff_name(lines[at], "--- "), _diff_name(lines[at + 1], "+++ ")} == {path}:
        at += 2  # the file lines of a unified diff, which repeat *** Update File:
    chunks = parse_chunks(lines, range(at, end))
    if not chunks and not moved:
        raise _malformed(begin, lines[begin], "it does not say what to update")
    return Section("update", path, moved, chunks=chunks)


def _diff_name(line: str, sign: str) -> str | None:
    return re.sub(r"^[ab]/", "", line.removeprefix(sign).split("\t")[0].strip()) if line.startswith(sign) else None


def parse_chunks(lines: Sequence[str], body: range) -> tuple[Chunk, ...]:
    """Raises ToolError `invalid_arguments` for a line that has no sign."""
    chunks: list[Chunk] = []
    headers: list[str] = []
    some: list[tuple[int, str]] = []
    for at in [*body, body.stop]:
        line = lines[at] if at < body.stop else "@@"  # like a new header, the end closes the open chunk
        header, at_end = header_of(line), line.rstrip() == END_OF_FILE
        if header is not None or at_end:
            while some and not some[-1][1]:
                some.pop()  # empty lines at the end of a chunk only separate it from what follows
            if some:
                chunks.append(_chunk(some[0][0], headers, [signed for _, signed in some], at_end=at_end))
                headers, some = [], []
            headers += [header] if header else []
        elif line and line[0] in " +-":
            some.append((at, line))
        elif not line.strip():
            some.append((at, ""))
        elif not line.startswith("\\ "):  # "\ No newline at end of file": the file's end stays as it is
            raise _malformed(at, line, "each line of an update begins with a space (stays), - (removed) or + (added)")
    if headers:
        raise _malformed(body.stop - 1, lines[body.stop - 1], "no lines follow this @@")
    return tuple(chunks)


def _chunk(at: int, headers: Sequence[str], some: Sequence[str], *, at_end: bool) -> Chunk:
    old = tuple(line[1:] for line in some if not line.startswith("+"))
    new = tuple(line[1:] for line in some if not line.startswith("-"))
    changed = [number for number, line in enumerate(some) if line.startswith(("+", "-"))]
    before, after = (changed[0], len(some) - 1 - changed[-1]) if changed else (len(some), 0)
    return Chunk(at + 1, tuple(headers), old, new, at_end, before, after)


def _malformed(at: int, line: str, why: str) -> ToolError:
    shown = f"line {at + 1} of the patch ({line[:80]!r}): " if line else ""
    return ToolError("invalid_arguments", f"{shown}{why}", hint=f"nothing was changed; the format is\n{SHOWN}")
