"""Replaces a definition in a text. Parses exactly this text to find the definition."""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TypeAlias

from tark_lsp.errors import ToolError
from tark_lsp.index.model import Definition, SymbolKind
from tark_lsp.index.parsing_apart import Outline, definitions_apart
from tark_lsp.tools.proposing import match_style
from tark_lsp.tools.symbols import parts_of
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.placing.deadline import limited_time
from tark_lsp.workspace.placing.indentation import follow_first_line, indentation_of, shifted
from tark_lsp.workspace.placing.left_out import require_complete, require_no_numbers

FUNCTIONS = (SymbolKind.FUNCTION, SymbolKind.METHOD)
ATTRIBUTE = re.compile(r"@|#\[|\[(?=[A-Z])")
"""The beginning of a decorator, annotation or attribute: `@cache`, `#[test]`, `[Fact]`."""
COMMENT = re.compile(r"//|/\*|\*|#(?=[\s#!:]|$)|--")
"""The beginning of a comment. `#include` is not a comment."""
SHOWN_CANDIDATES = 20

Reader: TypeAlias = Callable[[str, Sequence[str]], Sequence[Outline]]
"""Reads the definitions of some texts. The path decides their language."""


def with_symbol(path: str, text: str, symbol: str, new_text: str, read: Reader = definitions_apart) -> str:
    """Replace the definition with the new text; empty to remove it.

    Decorators and comments directly above it stay, unless the new text begins with some. Raises ToolError: `not_found`,
    `not_unique`, `unsupported` if the file cannot be parsed, `invalid_arguments`.
    """
    with limited_time():
        lines = split_lines(text)
        fresh = _dedented(split_lines(new_text))
        outline, defined = read(path, [text, "".join(fresh)])
        definitions = _required(path, outline)
        definition = _meant(path, lines, definitions, symbol)
        start, end = definition.start_line - 1, definition.end_line
        old = "".join(lines[start:end])
        require_complete(text, old, new_text)
        require_no_numbers(old, new_text, start + 1)
        if new_text.strip() and not defined:
            _require_no_definition(path, definition, old, read)
        start = _first_line_above(lines, start, definitions, _head(fresh, defined or ()))
        old = "".join(lines[start:end])
        new = "".join(_indented(split_lines(new_text.lstrip("\r\n")), indentation_of(lines[start])))
        return "".join([*lines[:start], match_style(old, new, text), *lines[end:]])


def _required(path: str, outline: Outline) -> Sequence[Definition]:
    if outline is None:
        raise ToolError(
            "unsupported",
            f"{path} or new_text cannot be parsed: there is no grammar for it, or it is too large or too complicated",
            hint="use edit_file",
        )
    return outline


def _meant(path: str, lines: Sequence[str], definitions: Sequence[Definition], symbol: str) -> Definition:
    parts = parts_of(symbol)
    found = [one for one in definitions if parts and one.qualified_name.split(".")[-len(parts) :] == parts]
    exact = [one for one in found if one.qualified_name.split(".") == parts]
    if len(exact) == 1 and len(parts) > 1:
        found = exact
    if not found:
        near = [one for one in definitions if parts and one.name == parts[-1]] or definitions
        raise ToolError(
            "not_found",
            f"{path} defines no {symbol}",
            hint="the candidates are definitions of this file; list_symbols shows all of them",
            details={"candidates": _candidates(lines, near)},
        )
    if len(found) > 1:
        alike = len({one.qualified_name for one in found}) < len(found)
        raise ToolError(
            "not_unique",
            f"{path} has {len(found)} definitions named {symbol}",
            hint="use edit_file, which takes the lines themselves"
            if alike
            else "qualify the name, as in the candidates",
            details={"candidates": _candidates(lines, found)},
        )
    definition = found[0]
    if beside := _beside(definitions, definition):
        raise ToolError(
            "unsupported",
            f"{beside.qualified_name} is on the same line as {symbol}",
            hint="use edit_file",
        )
    return definition


def _candidates(lines: Sequence[str], definitions: Sequence[Definition]) -> list[str]:
    return [
        f"{one.qualified_name}: lines {one.start_line}-{one.end_line}: {lines[one.name_line - 1].strip()[:200]}"
        for one in definitions[:SHOWN_CANDIDATES]
    ]


def _beside(definitions: Sequence[Definition], definition: Definition) -> Definition | None:
    """Another definition that shares lines with this one, and is neither inside nor around it."""
    return next((other for other in definitions if other is not definition and _shares_a_line(definition, other)), None)


def _shares_a_line(one: Definition, other: Definition) -> bool:
    if other.end_line < one.start_line or other.start_line > one.end_line:
        return False
    if other.qualified_name.startswith(f"{one.qualified_name}."):
        return False
    if other.start_line < one.start_line and one.end_line <= other.end_line:
        return False  # it is around it
    # Parameters of a constructor can be fields of its class.
    behind_head = other.start_line > one.start_line or other.name_column > one.name_column
    inside = behind_head and (
        other.end_line < one.end_line or (one.kind in FUNCTIONS and other.kind is SymbolKind.FIELD)
    )
    return not inside


def _require_no_definition(path: str, definition: Definition, old: str, read: Reader) -> None:
    """Call this if the new text has no definition. Raises ToolError if the old text alone is parsed as a definition."""
    (alone,) = read(path, ["".join(_dedented(split_lines(old)))])
    if any(one.name == definition.name for one in alone or ()):
        raise ToolError(
            "invalid_arguments",
            f"new_text defines nothing, but it replaces the whole definition of {definition.qualified_name}",
            hint="give the whole definition, with its first line; use edit_file to change some lines of it",
        )


def _head(fresh: Sequence[str], defined: Sequence[Definition]) -> Sequence[str]:
    """The lines before the first definition of the new text, without indentation."""
    if defined:
        return fresh[: min(one.start_line for one in defined) - 1]
    filled = [line for line in fresh if line.strip()]  # a method, which is not a definition outside of its class
    return [*takewhile(lambda line: indentation_of(line) or ATTRIBUTE.match(line) or COMMENT.match(line), filled)]


def _first_line_above(lines: Sequence[str], start: int, definitions: Sequence[Definition], head: Sequence[str]) -> int:
    """The first line to replace, from 0. It includes decorators or comments above `start` if the new head has some."""
    kinds = [kind for kind in (ATTRIBUTE, COMMENT) if any(kind.match(line) for line in head)]
    if not kinds:
        return start
    indentation = indentation_of(lines[start])
    last_other = max((one.end_line for one in definitions if one.end_line <= start), default=0)
    heads = {one.name_line for one in definitions}
    found = at = start
    while at > last_other and lines[at - 1].strip() and at not in heads:
        line = lines[at - 1].strip()
        if not indentation_of(lines[at - 1]).startswith(indentation) or (
            ATTRIBUTE not in kinds and ATTRIBUTE.match(line)
        ):
            break  # the new text has no decorators, so the old ones stay
        at -= 1
        if any(kind.match(line) for kind in kinds):
            found = at
    return found


def _dedented(lines: Sequence[str]) -> list[str]:
    white = next((indentation_of(line) for line in lines if line.strip()), "")
    return [line.removeprefix(white) for line in lines]


def _indented(fresh: Sequence[str], stands: str) -> Sequence[str]:
    """The new lines with the indentation of the definition in the text."""
    filled = [line for line in fresh if line.strip()]
    if not filled or (quoted := indentation_of(filled[0])) == stands:
        return fresh
    found: Sequence[str] | None = None
    if all(line.startswith(quoted) for line in filled):
        dedented = [line.removeprefix(quoted) for line in fresh]
        if not stands:
            found = dedented
        elif len(filled) == 1 or any(indentation_of(line) == quoted for line in filled[1:]):
            found = shifted(dedented, "", stands)  # a whole definition: another line shows how it is indented
        else:
            found = follow_first_line(dedented, "", stands, alone=True)
    if found is None:
        raise ToolError(
            "invalid_arguments",
            f"it is not certain how new_text is to be indented: its first line has {len(quoted)} characters of white "
            f"space, the definition in the file {len(stands)}",
            hint="indent every line of new_text as it must be in the file",
        )
    return found
