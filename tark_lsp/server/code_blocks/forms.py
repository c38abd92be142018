"""Forms of code blocks that state what they change: diffs, patches, search and replace. Pure."""

import re

from tark_lsp.tools.patch_format import BEGIN, END, inside_fences
from tark_lsp.tools.unified_diff import is_unified_diff

DIFFS = frozenset({"diff", "patch", "udiff"})
"""Languages of fences whose block is a diff, even without a line `@@`."""
SEARCH, DIVIDER, REPLACE = (
    re.compile(mark) for mark in (r"<{5,9} ?SEARCH>?\s*", r"={5,9}\s*", r">{5,9} ?REPLACE<?\s*")
)


def names_its_files(block: str) -> bool:
    """Whether the block is a patch that names the files it changes."""
    lines = block.replace("\r\n", "\n").split("\n")
    first, last = inside_fences(lines)
    return lines[first:last][:1] == [BEGIN] or is_unified_diff(lines[first:last])


def patch_of(block: str, language: str, path: str) -> str | None:
    """The patch of the file `path` if the block is a diff that does not name the file; else None."""
    lines = block.replace("\r\n", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    changes = any(line.startswith(("+", "-")) for line in lines)
    chunks = bool(lines) and lines[0].startswith("@@")
    marked = language in DIFFS and all(not line.strip() or line[0] in " +-@\\" for line in lines)
    if not changes or not (chunks or marked):
        return None
    return "\n".join([BEGIN, f"*** Update File: {path}", *lines, END])


def replacements(block: str) -> tuple[tuple[str, str], ...] | None:
    """The pairs (search, replace) of a block that consists of such parts; None for any other block.

    Between the parts, only blank lines and one line before each part (a path) are accepted.
    """
    pairs: list[tuple[str, str]] = []
    parts: tuple[list[str], list[str]] = ([], [])
    inside = -1  # 0: searched lines, 1: their replacement
    before = 0
    for line in block.replace("\r\n", "\n").split("\n"):
        if inside < 0 and SEARCH.fullmatch(line):
            parts, inside, before = ([], []), 0, 0
        elif inside == 0 and DIVIDER.fullmatch(line):
            inside = 1
        elif inside == 1 and REPLACE.fullmatch(line):
            pairs.append((_text(parts[0]), _text(parts[1])))
            inside = -1
        elif inside >= 0:
            parts[inside].append(line)
        elif line.strip():
            before += 1
            if before > 1:
                return None
    return tuple(pairs) if pairs and inside < 0 and not before else None


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
