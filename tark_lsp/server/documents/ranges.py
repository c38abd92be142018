"""Which lines are meant: the definition around a caret, the definition after a comment. Pure.

By indentation and the words that begin definitions, in any language that is indented as usual; where that finds
nothing, the line itself. The range that counts is shown to the person before anything is done with it.
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
"""What begins a definition, before its name."""
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
"""Characters of a line that may begin a definition: on the endless lines of minified code a pattern takes for ever."""
FARTHEST = 10_000
"""Lines above the caret that are looked at."""
CONTROL = re.compile(
    r"\s*\}?\s*(?:if|else|elif|for|while|switch|case|try|catch|finally|do|with|match|return|elseif|when)\b"
)
PREFIX = re.compile(r"\s*(?:@\w|#\[)")
CLOSER = re.compile(r"\s*(?:[)\]}]|end\b)")


def enclosing_definition(lines: Sequence[str], line: int) -> tuple[int, int]:
    """The lines [start, end) of the innermost definition that holds `line`; the line itself where none does."""
    limit = sys.maxsize
    """What begins a block that holds the lines seen so far is indented by less."""
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
    """The definition that begins at `line` or after blank lines and comments; None where other code comes first."""
    for start in range(line, min(len(lines), line + 20)):
        if begins_definition(lines, start):
            return start, block_end(lines, start)
        if lines[start].strip() and not re.match(r"\s*(?:#|//|--|;|%|\"|/\*|\*|<!--)", lines[start]):
            return None
    return None


def begins_definition(lines: Sequence[str], at: int) -> bool:
    """Also where the brace of the block stands on the line after."""
    line = lines[at]
    if at + 1 < len(lines) and lines[at + 1].strip() == "{" and line.rstrip().endswith(")"):
        line = f"{line.rstrip()} {{"
    return is_definition(line)


def is_definition(line: str) -> bool:
    text = line.strip()
    return len(text) <= LONGEST_HEAD and CONTROL.match(text) is None and DEFINITION.match(text) is not None


def block_end(lines: Sequence[str], start: int) -> int:
    """The first line after the block that begins at `start`: what is deeper, and what closes it."""
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
    """The first decorator or attribute right above."""
    while start > 0 and PREFIX.match(lines[start - 1]):
        start -= 1
    return start


def _indent(line: str) -> int:
    space = line[: len(line) - len(line.lstrip())]
    return len(space.expandtabs(8)) if "\t" in space else len(space)
