"""Front matter: the few `key: value` lines between `---` and `---` at the top of a Markdown file. Pure.

The syntax is the part of YAML that such files use, plus two things that YAML refuses:
`globs: *.py, src/**` (an alias in YAML) and `description: Use this: ...` (a mapping). A YAML library would therefore
refuse the rule files of common editors.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tark_lsp.errors import TarkError

Value: TypeAlias = str | bool | tuple[str, ...]

MARK = "---"
KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?")
BLOCK = re.compile(r"([|>])[-+]?\d?")
ITEM = re.compile(r"\s*-(?:\s+(.*))?")
SEVERAL = re.compile(r"""(?:'[^']*'|"[^"]*")\s*,.*""")
"""A quoted text followed by a comma: a list."""
COMMENT = re.compile(r"(?:^|\s)#.*")
MOST_LINES = 200


class BadFrontMatter(TarkError):
    """The message names the line."""

    code = "front_matter"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`fields` by key, as written. `body` is the text after the front matter, from line `body_line` on (from 1)."""

    body: str
    fields: Mapping[str, Value] = field(default_factory=dict)
    body_line: int = 1

    def text_field(self, key: str) -> str:
        """The text of the field; empty if it is missing. Raises BadFrontMatter for a list."""
        value = self.fields.get(key, "")
        if isinstance(value, tuple):
            raise BadFrontMatter(f"{key}: expected a text, not a list")
        return str(value).lower() if isinstance(value, bool) else " ".join(value.split())

    def flag_field(self, key: str) -> bool:
        """The flag; False if the field is missing. Raises BadFrontMatter for anything except `true` and `false`."""
        value = self.fields.get(key, False)
        if value == "":
            return False
        if not isinstance(value, bool):
            raise BadFrontMatter(f"{key}: expected true or false")
        return value

    def list_field(self, key: str) -> tuple[str, ...]:
        """A list, or a text that is split at its commas, except for those within braces (`*.{js,ts}`)."""
        value = self.fields.get(key, ())
        if isinstance(value, bool):
            raise BadFrontMatter(f"{key}: expected a text or a list")
        found = value if isinstance(value, tuple) else tuple(_unquoted(word) for word in _parted(value))
        return tuple(word for word in found if word)


def parse_front_matter(text: str) -> FrontMatter:
    """Parse a file; a text without front matter is all body. Raises BadFrontMatter."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].strip() != MARK:
        return FrontMatter(text)
    end = next((number for number, line in enumerate(lines[1 : MOST_LINES + 1], 1) if line.rstrip() == MARK), None)
    if end is None:
        raise BadFrontMatter(f"the front matter that line 1 opens is not closed by {MARK} within {MOST_LINES} lines")
    fields: dict[str, Value] = {}
    at = 1
    while at < end:
        line = lines[at].rstrip()
        if not line or line.lstrip().startswith("#"):
            at += 1
            continue
        found = KEY.fullmatch(line)
        if found is None:
            raise BadFrontMatter(f"line {at + 1} is not `key: value`: {line.strip()[:60]}")
        if found[1] in fields:
            raise BadFrontMatter(f"line {at + 1}: {found[1]} occurs twice")
        below = at + 1
        while below < end and (lines[below][:1] in " \t\r\n" or ITEM.fullmatch(lines[below].rstrip())):
            below += 1
        try:
            fields[found[1]] = _value(found[2] or "", [line.rstrip() for line in lines[at + 1 : below]])
        except BadFrontMatter as error:
            raise BadFrontMatter(f"line {at + 1}: {error.message}") from error
        at = below
    return FrontMatter("".join(lines[end + 1 :]), fields, end + 2)


def _value(first: str, below: Sequence[str]) -> Value:
    """`first` is the text after the colon, `below` are the further lines that belong to it."""
    first = first.strip()
    if block := BLOCK.fullmatch(first):
        width = min((len(line) - len(line.lstrip()) for line in below if line.strip()), default=0)
        return ("\n" if block[1] == "|" else " ").join(line[width:] for line in below).strip()
    lines = [line for line in (_without_comment(line) for line in (first, *below)) if line]
    if not lines:
        return ""
    if not _without_comment(first) and all(ITEM.fullmatch(line) for line in lines):
        return tuple(_unquoted((found[1] or "").strip()) for line in lines if (found := ITEM.fullmatch(line)))
    joined = " ".join(line.strip() for line in lines)
    if joined.startswith("["):
        if not joined.endswith("]"):
            raise BadFrontMatter("the list is not closed by ]")
        return tuple(_unquoted(item) for item in _parted(joined[1:-1]) if item)
    if joined in ("true", "false"):
        return joined == "true"
    return joined if SEVERAL.fullmatch(joined) else _unquoted(joined)


def _without_comment(line: str) -> str:
    """The line without its comment. A `#` within quotes or within a word does not begin one."""
    return line.rstrip() if line.lstrip()[:1] in ("'", '"') else COMMENT.sub("", line).rstrip()


def _unquoted(text: str) -> str:
    """Raises BadFrontMatter for an unclosed quote."""
    if text[:1] not in ("'", '"') or not text:
        return text
    quote = text[0]
    if len(text) < 2 or text[-1] != quote:
        raise BadFrontMatter(f"the quote is not closed: {text[:60]}")
    inner = text[1:-1]
    return inner.replace("''", "'") if quote == "'" else re.sub(r'\\(["\\/])', r"\1", inner)


def _parted(text: str) -> list[str]:
    """The text split at commas outside of braces and quotes; the parts are trimmed."""
    parts, depth, quote, start = [], 0, "", 0
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and not text[start:at].strip():
            quote = character
        elif character in "{}":
            depth += 1 if character == "{" else -1
        elif character == "," and depth <= 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]
