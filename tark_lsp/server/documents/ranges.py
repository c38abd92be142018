"""Finds the lines that a request is about: the definition around a cursor, the definition after a comment. Pure.

It uses the indentation and the words that begin definitions, so it works for any language with usual indentation. If it
finds nothing, the line itself is used. The user is shown the range before anything is done with it.
"""

import re
import sys
from collections.abc import Sequence

MODIFIERS = (
    r"export|default|public|private|protected|internal|static|abstract|final|async|pub(?:\([^)]*\))?|unsafe|extern"
    "|override|virtual|inline|const|local|sealed|open|data|suspend"
)
WORDS = (
    "def|class|function|func|fn|fun|sub|struct|enum|trait|impl|interface|module|mod|namespace|type|macro_rules!"
    "|defmodule|defp|defun|defn|proc|procedure|constructor|object|record|union|contract"
)
"""Words that begin a definition, before its name."""
DEFINITION = re.compile(
    rf"""\s*(?:
        (?:@\w|\#\[)                                                                   # decorators, attributes
      | (?:(?:{MODIFIERS})\s+)*(?:{WORDS})\b
      | [\w<>\[\],:&*~ \t]+\([^;]*\)\s*(?:const|noexcept|throws\s[\w, .]+|->\s*\S+|:\s*\S+)?\s*\{{\s*$  # C
      | (?:export\s+)?(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*(?::\s*\S+)?\s*=>  # arrows
    )""",
    re.VERBOSE,
)
LONGEST_HEAD = 400
"""How many characters of a line are checked. On long lines of minified code, the pattern would take forever."""
FARTHEST = 10_000
"""How many lines above the cursor are searched."""
CONTROL = re.compile(
    r"\s*\}?\s*(?:if|else|elif|for|while|switch|case|try|catch|finally|do|with|match|return|elseif|when)\b"
)
PREFIX = re.compile(r"\s*(?:@\w|#\[)")
CLOSER = re.compile(r"\s*(?:[)\]}]|end\b)")


def enclosing_definition(lines: Sequence[str], line: int) -> tuple[int, int]:
    """The lines [start, end) of the innermost definition that contains `line`; the line itself if none does."""
    limit = sys.maxsize
    """A line that begins a block around the lines seen so far has less indentation than this."""
    for start in range(min(line, len(lines) - 1), max(-1, line - FARTHEST), -1):
        text = lines[start]
        if not (bare := text.lstrip()):
            continue
        indent = _indent(text)
        if (indent < limit or start == line or PREFIX.match(text)) and begins_definition(lines, start):
            end = block_end(lines, start)
            if line < end:
                return with_prefixes(lines, start), end
        if indent < limit:
            limit = indent + (CLOSER.match(text) is not None or bare.rstrip() == "{")
    return line, line + 1


def definition_after(lines: Sequence[str], line: int) -> tuple[int, int] | None:
    """The definition that begins at `line` or after blank lines and comments. None if other code comes first."""
    for start in range(line, min(len(lines), line + 20)):
        if begins_definition(lines, start):
            return start, block_end(lines, start)
        if lines[start].strip() and not re.match(r"\s*(?:#|//|--|;|%|\"|/\*|\*|<!--)", lines[start]):
            return None
    return None


def begins_definition(lines: Sequence[str], at: int) -> bool:
    """Also true if the brace of the block is on the next line."""
    line = lines[at]
    if at + 1 < len(lines) and lines[at + 1].strip() == "{" and line.rstrip().endswith(")"):
        line = f"{line.rstrip()} {{"
    return is_definition(line)


def is_definition(line: str) -> bool:
    text = line.strip()
    return len(text) <= LONGEST_HEAD and CONTROL.match(text) is None and DEFINITION.match(text) is not None


def block_end(lines: Sequence[str], start: int) -> int:
    """The first line after the block that begins at `start`. The block has deeper lines, and lines that close it."""
    while start + 1 < len(lines) and PREFIX.match(lines[start]):
        start += 1
    indent = _indent(lines[start])
    end = start + 1
    for at in range(start + 1, len(lines)):
        if not lines[at].strip():
            continue
        deeper = _indent(lines[at]) - indent
        closes = CLOSER.match(lines[at]) is not None or lines[at].strip() == "{"
        if deeper > 0 or (deeper == 0 and closes):
            end = at + 1
        else:
            break
    return end


def with_prefixes(lines: Sequence[str], start: int) -> int:
    """The line of the first decorator or attribute directly above; `start` if there are none."""
    while start > 0 and PREFIX.match(lines[start - 1]):
        start -= 1
    return start


def _indent(line: str) -> int:
    space = line[: len(line) - len(line.lstrip())]
    return len(space.expandtabs(8)) if "\t" in space else len(space)
