"""Links from a chat to code: finds them in a line (pure), and resolves them to existing files in the workspace."""

import os
import re
from bisect import bisect
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from tark_lsp.context.snippets import OPENING
from tark_lsp.server.prompting.mentions import find_mentions, split_lines_of
from tark_lsp.visible import code_span, visible
from tark_lsp.workspace.files import Workspace

MARKDOWN = re.compile(r"\[[^\[\]]*\]\((?P<path>[^()\s#<>]+)(?:#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?)?\)")
PLAIN = re.compile(r"(?<![\w./\\+~@-])(?P<path>[\w./\\+~@-]++):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?(?![\w/\\-])")
LOOKED_AT = 2_000
"""How many characters of a line are searched for links. Editors request the links of every opened file."""


@dataclass(frozen=True, slots=True)
class Link:
    """`line[start:end]`, in code points. `path` is as written; lines count from 1."""

    start: int
    end: int
    path: str
    first: int | None = None
    last: int | None = None


def find_links(line: str) -> list[Link]:
    """Links in order, without overlaps: `[..](path#L1-L2)`, `<code="path" #1:2>`, `@file:path:1-2`, plain `path:1-2`.

    Only the beginning of a long line is searched, in linear time.
    """
    links: list[Link] = []
    cut = len(line) > LOOKED_AT
    line = line[:LOOKED_AT]

    def add(start: int, end: int, path: str, first: int | None, last: int | None) -> None:
        place = bisect(links, start, key=lambda link: link.start)
        clear = (place == 0 or links[place - 1].end <= start) and (place == len(links) or end <= links[place].start)
        if clear and not (cut and end == len(line)):  # the link may continue after the cut
            links.insert(place, Link(start, end, path, first, last))

    if "](" in line:
        for found in MARKDOWN.finditer(line):
            add(found.start(), found.end(), unquote(found["path"], errors="surrogateescape"), *_lines(found))
    if "<code" in line:
        for found in OPENING.finditer(line):
            first = max(1, int(found[2]))
            add(found.start(), found.end(), found[1].replace("%22", '"'), first, max(first, int(found[3] or first)))
    if "@file:" in line:
        for mention in find_mentions(line):
            if mention.name == "file" and mention.argument:
                add(mention.start, mention.end, *split_lines_of(mention.argument))
    if ":" in line:
        for found in PLAIN.finditer(line):
            add(found.start(), found.end(), found["path"], *_lines(found))
    return links


def resolve(written: str, beside: Path, workspace: Workspace) -> Path | None:
    """The file in the workspace that a link points to, relative to the chat's folder or a workspace folder, if any.

    Paths outside are not even checked for existence, because checking `//host/share` on Windows logs in there.
    """
    if "\0" in written or not _encodable(written):
        return None
    for folder in (beside, *workspace.folders):
        path = Path(os.path.normpath(folder / written))
        if not workspace.is_inside(path):
            continue
        real = Path(os.path.realpath(path))
        if workspace.is_inside(real) and os.path.isfile(real):  # noqa: PTH113  # `is_file` raises for a long name
            return real
    return None


def _encodable(path: str) -> bool:
    """False if a model wrote half of a surrogate pair."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def cite(written: str, first: int, last: int, beside: Path, workspace: Workspace) -> str:
    """A link to lines, for an answer in a chat in the folder `beside`; plain text if the file does not exist."""
    lines = f"{first}-{last}" if last > first else str(first)
    path = resolve(written, beside, workspace)
    if path is None:
        return code_span(f"{written}:{lines}")
    anchor = f"L{first}-L{last}" if last > first else f"L{first}"
    target = quote(os.fsencode(Path(os.path.relpath(path, beside)).as_posix()), safe="/")
    label = re.sub(r"[\[\]]", "", visible(workspace.display(path)))
    return f"[{label}:{lines}]({target}#{anchor})"


def _lines(found: "re.Match[str]") -> tuple[int | None, int | None]:
    if found["first"] is None:
        return None, None
    first = max(1, int(found["first"]))
    return first, max(first, int(found["last"] or first))
