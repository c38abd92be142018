"""Parses a unified diff from git or diff, without the envelope of a patch, into the same sections. Pure."""

import re
from collections.abc import Sequence

from tark_lsp.errors import ToolError
from tark_lsp.tools.patch_format import Section, parse_chunks

NOTHING = "/dev/null"
NOTES = ("diff --git ", "index ", "new file mode", "deleted file mode", "old mode", "new mode", "similarity index",
         "dissimilarity index", "rename from ", "rename to ")  # fmt: skip


def is_unified_diff(lines: Sequence[str]) -> bool:
    """Whether the first line that is not a header of git begins the diff of a file."""
    at = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith(NOTES)), len(lines))
    return _begins_file(lines, at) or any(line.startswith("rename to ") for line in lines[:at])


def parse_unified_diff(lines: Sequence[str]) -> tuple[Section, ...]:
    """Raises ToolError `invalid_arguments`. Line numbers are ignored: the text determines the place."""
    sections: list[Section] = []
    at = 0
    renamed: tuple[str, str] | None = None
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git ") and renamed:
            sections.append(Section("update", *renamed))
            renamed = None
        if line.startswith("rename from ") and lines[at + 1 : at + 2] and lines[at + 1].startswith("rename to "):
            renamed = (line.removeprefix("rename from ").strip(), lines[at + 1].removeprefix("rename to ").strip())
            at += 1
        elif _begins_file(lines, at):
            end = next((k for k in range(at + 2, len(lines)) if _ends_file(lines, k)), len(lines))
            sections.append(_section(lines, at, end, renamed))
            renamed = None
            at = end - 1
        elif line.strip() and not line.startswith(NOTES):
            raise ToolError(
                "invalid_arguments",
                f"line {at + 1} of the diff ({line[:80]!r}) belongs to no file",
                hint="begin the diff of each file with its lines --- and +++",
            )
        at += 1
    if renamed:
        sections.append(Section("update", *renamed))
    return tuple(sections)


def _begins_file(lines: Sequence[str], at: int) -> bool:
    some = lines[at : at + 3]
    headed = len(some) > 1 and some[0].startswith("--- ") and some[1].startswith("+++ ")
    return headed and (len(some) < 3 or some[2].startswith("@@") or not some[2].strip())


def _ends_file(lines: Sequence[str], at: int) -> bool:
    return lines[at].startswith("diff --git ") or _begins_file(lines, at)


def _section(lines: Sequence[str], at: int, end: int, renamed: tuple[str, str] | None) -> Section:
    old, new = _name(lines[at]), _name(lines[at + 1])
    body = range(at + 2, end)
    if new == NOTHING:
        return Section("delete", old)
    if old == NOTHING:
        added = [lines[k] for k in body if lines[k].startswith("+")]
        return Section("add", new, text="".join(f"{line[1:]}\n" for line in added))
    target = renamed[1] if renamed else new if new != old else None
    return Section("update", renamed[0] if renamed else old, target, chunks=parse_chunks(lines, body))


def _name(line: str) -> str:
    name = line[4:].split("\t")[0].strip().strip('"')
    return name if name == NOTHING else re.sub(r"^[ab]/", "", name)
