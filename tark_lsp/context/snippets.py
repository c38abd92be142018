"""The code snippet format. Code for the model has its path and lines, and the model cites code in the same format.

    <code="ABSOLUTE/PATH.py" #START:END>
    ...code, as is...
    </code>

START and END count from 1, and END is included. In the code, `</code>` is written as `<\\/code>`. In a path, `"` is
written as `%22`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.workspace.lines import split_lines

CLOSING = "</code>"
ESCAPED_CLOSING = "<\\/code>"

OPENING = re.compile(r'<code="([^"\r\n]*)" #(\d{1,9})(?::(\d{1,9}))?>')


@dataclass(frozen=True, slots=True)
class Reference:
    """A snippet in an answer of the model, which is `text[start:end]`.

    `path` is what the model wrote; it is never used for writing. `code` is unescaped, without its last line ending.
    """

    path: str
    first_line: int
    last_line: int
    code: str
    start: int
    end: int


def format_snippet(path: Path, start: int, end: int, code: str) -> str:
    """A snippet with lines `start` to `end` of `path`, from 1, both included. It is the same if the last line ending of
    `code` is missing."""
    shown = escape_code(code)
    if not shown.endswith(("\n", "\r")):
        shown += "\n"
    name = str(path).replace('"', "%22")
    return f'<code="{name}" #{start}:{end}>\n{shown}{CLOSING}'


def format_head(path: Path, start: int, code: str, limit: int, read_on: str) -> str:
    """As `format_snippet`, with as many of the first lines as fit into `limit` characters, but at least one.

    If lines are left out, a sentence says how to read them. `read_on` is the path for `read_file`.
    """
    lines = split_lines(code)
    used = count = 0
    while count < len(lines) and (not count or used + len(lines[count]) <= limit):
        used += len(lines[count])
        count += 1
    end = start + max(1, count) - 1
    shown = "".join(lines[:count])[: max(limit, 1)]
    snippet = format_snippet(path, start, end, shown)
    if len(shown) == len(code):
        return snippet
    last, following = start + len(lines) - 1, end if used > limit else end + 1
    note = f"which are too long to show; read on with read_file, path = {read_on}, start_line = {following}"
    return f"{snippet}\n[This is the beginning of lines {start}-{last}, {note}.]"


def parse_snippets(text: str) -> list[Reference]:
    """The snippets of an answer, in order. A snippet whose `</code>` is missing is included, without code."""
    found = []
    position = 0
    while opening := OPENING.search(text, position):
        following = OPENING.search(text, opening.end())
        closing = text.find(CLOSING, opening.end(), following.start() if following else len(text))
        code = text[opening.end() : closing] if closing >= 0 else ""
        position = closing + len(CLOSING) if closing >= 0 else opening.end()
        first = max(1, int(opening[2]))
        last = max(first, int(opening[3] or first))
        path = opening[1].replace("%22", '"')
        found.append(Reference(path, first, last, _inner(code), opening.start(), position))
    return found


def escape_code(code: str) -> str:
    return code.replace(CLOSING, ESCAPED_CLOSING)


def unescape_code(code: str) -> str:
    return code.replace(ESCAPED_CLOSING, CLOSING)


def _inner(code: str) -> str:
    return unescape_code(re.sub(r"\A\r?\n|\r?\n\Z", "", code))
