"""Finds the lines of a file that a code block replaces, if that is certain. Pure.

The place is certain in two cases:

- The block is one definition, and the file has exactly one definition of the same kind and name.
- The first and the last line of the block are in the file exactly once, and the block has most of the lines between.

In both cases, the block must have every definition that it would replace. Everything else is left to a model, because a
wrong edit that looks right is worse.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent

from tark_lsp.server.documents.ranges import (
    LONGEST_HEAD,
    MODIFIERS,
    PREFIX,
    WORDS,
    begins_definition,
    block_end,
    is_definition,
    with_prefixes,
)
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.placing.deadline import checked_each

NAMED = re.compile(rf"(?:(?:{MODIFIERS})\s+)*(?P<word>{WORDS})\b\*?\s*(?P<receiver>\([^)]*\)\s*)?(?P<name>[\w$.:!?]+)")
"""The receiver is for Go: `func (s *Server) Handle(`."""
ASSIGNED = re.compile(rf"(?:(?:{MODIFIERS})\s+)*(?:const|let|var)\s+(?P<name>[\w$]+)\s*=")
CALLED = re.compile(r"[^(=]*?(?P<name>[\w$~:]+)\s*\(")
COMMENT = re.compile(r"\s*(?:#(?!\[|include|define|if|endif)|//|--(?!-)|;|/\*|\*)")
LEAST_LINES = 3
"""Minimum lines of a block that is placed by its first and last line. Two lines alone may not belong together."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """Whole lines `old` of the file become `new`. `line`: the first of these lines, from 1."""

    old: str
    new: str
    line: int


def find_replacement(text: str, block: str) -> Replacement | None:
    """None if it is uncertain what the block replaces. Raises ToolError `too_large` if the time is up."""
    lines = split_lines(text)
    wanted = split_lines(block)
    while wanted and not wanted[-1].strip():
        wanted.pop()
    while wanted and not wanted[0].strip():
        wanted.pop(0)
    found = wanted and (_by_definition(lines, wanted) or _by_ends(lines, wanted))
    if not found:
        return None
    start, end, new = found
    if not _definitions(lines[start:end]) <= _definitions(new) or _mixes_indentation(lines[start:end], new):
        return None
    ended = [line if line.endswith(("\n", "\r")) else f"{line}\n" for line in new]
    return Replacement("".join(lines[start:end]), "".join(ended), start + 1)


Found = tuple[int, int, Sequence[str]]
"""Lines [start, end) of the file, and the lines that replace them."""


def _by_definition(lines: Sequence[str], wanted: Sequence[str]) -> Found | None:
    """The block is one definition, with comments, decorators and attributes above it."""
    comments = next((at for at, line in enumerate(wanted) if not COMMENT.match(line)), len(wanted))
    head = next((at for at in range(comments, len(wanted)) if not PREFIX.match(wanted[at])), len(wanted))
    if head == len(wanted) or not begins_definition(wanted, head) or block_end(wanted, head) != len(wanted):
        return None
    key = _key(wanted[head])
    same = [at for at, line in enumerate(lines) if key and checked_each(at) and key[1] in line and _key(line) == key]
    if len(same) != 1:
        return None
    (at,) = same
    start = with_prefixes(lines, at) if head > comments else at
    if start < comments or [line.strip() for line in lines[start - comments : start]] != [
        line.strip() for line in wanted[:comments]
    ]:
        return None  # the comment above differs: it is uncertain whether it stays
    start -= comments
    new = _indented_as(lines[at], wanted, head)
    return None if new is None else (start, block_end(lines, at), new)


def _by_ends(lines: Sequence[str], wanted: Sequence[str]) -> Found | None:
    first, last = (
        [at for at, line in enumerate(lines) if line.rstrip() == end.rstrip()] for end in (wanted[0], wanted[-1])
    )
    if len(wanted) < LEAST_LINES or len(first) != 1 or len(last) != 1 or first[0] >= last[0]:
        return None
    start, end = first[0], last[0] + 1
    kept = {line.strip() for line in wanted}
    some = [line.strip() for line in lines[start:end] if line.strip()]
    return (start, end, wanted) if 2 * sum(line in kept for line in some) > len(some) else None


def _indented_as(line: str, wanted: Sequence[str], head: int) -> Sequence[str] | None:
    """The block, indented like the definition that begins with `line`. If the indentation differs, the first lines must
    be the same, because a function and a method can have the same name."""
    if _indent(line) == _indent(wanted[head]):
        return wanted
    if line.strip() != wanted[head].strip():
        return None
    flush = split_lines(dedent("".join(wanted)))
    return None if _indent(flush[head]) else [_indent(line) + one if one.strip() else one for one in flush]


def _definitions(lines: Sequence[str]) -> set[tuple[str, str]]:
    return {key for at, line in enumerate(lines) if checked_each(at) and (key := _key(line))}


def _key(line: str) -> tuple[str, str] | None:
    """The kind and the name of the definition that begins at the line. None if there is none."""
    text = line.strip()
    if not text or len(text) > LONGEST_HEAD or PREFIX.match(text) or not is_definition(text):
        return None
    if found := NAMED.match(text):
        whole = found["word"] in ("impl", "type")  # a file can have several of these with the same first name
        kind = found["word"] + (found["receiver"] or "").strip()
        return kind, text.rstrip("{ ") if whole else found["name"].rstrip(":")
    found = ASSIGNED.match(text) or CALLED.match(text)
    return None if found is None else ("", found["name"])


def _mixes_indentation(old: Sequence[str], new: Sequence[str]) -> bool:
    """Does one text indent with tabs and the other with spaces?"""
    used = [{line[0] for line in some if line[0] in " \t" and line.strip()} for some in (old, new)]
    return all(used) and not used[0] & used[1]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
