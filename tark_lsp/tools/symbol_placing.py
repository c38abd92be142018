"""Puts the new text of a definition at its place in a text. Pure: the place is found by parsing this very text."""

import re
from collections.abc import Sequence

from tark_lsp.errors import ToolError
from tark_lsp.index.model import Definition
from tark_lsp.index.parsing import parse_file
from tark_lsp.tools.proposing import match_style
from tark_lsp.tools.symbols import parts_of
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.placing.deadline import limited_time
from tark_lsp.workspace.placing.indentation import follow_first_line, indentation_of
from tark_lsp.workspace.placing.left_out import require_complete, require_no_numbers

ATTRIBUTE = re.compile(r"@|#\[|\[(?=[A-Z])")
"""What a decorator, annotation or attribute begins with: `@cache`, `#[test]`, `[Fact]`."""
COMMENT = re.compile(r"//|/\*|\*|#(?!\[)|--")
SHOWN_CANDIDATES = 20


def with_symbol(path: str, text: str, symbol: str, new_text: str) -> str:
    """The text with the definition replaced by the new text, which is empty to remove it.

    Decorators and comments directly above it stay, unless the new text begins with some. Raises ToolError: `not_found`,
    `not_unique`, `unsupported` if the file cannot be parsed, `invalid_arguments`.
    """
    with limited_time():
        lines = split_lines(text)
        definitions = _definitions(path, text)
        definition = _meant(path, lines, definitions, symbol)
        start, end = definition.start_line - 1, definition.end_line
        old = "".join(lines[start:end])
        require_complete(text, old, new_text)
        require_no_numbers(old, new_text, start + 1)
        if new_text.strip():
            _require_definition(path, definition, old, new_text)
        start = _first_line_above(lines, start, definitions, split_lines(new_text))
        old = "".join(lines[start:end])
        new = "".join(_indented(split_lines(new_text.lstrip("\r\n")), indentation_of(lines[start])))
        return "".join([*lines[:start], match_style(old, new, text), *lines[end:]])


def _definitions(path: str, text: str) -> Sequence[Definition]:
    parsed = parse_file(path, text)
    if not parsed.language:
        raise ToolError(
            "unsupported",
            f"{path} cannot be parsed: there is no grammar for it, or it is too large",
            hint="use edit_file",
        )
    return parsed.definitions


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
    """Another definition that begins or ends on a line of this one, and is neither inside nor around it."""
    for other in definitions:
        apart = other.end_line < definition.start_line or other.start_line > definition.end_line
        inside = other.qualified_name.startswith(f"{definition.qualified_name}.")
        around = definition.qualified_name.startswith(f"{other.qualified_name}.") and (
            other.start_line < definition.start_line and definition.end_line <= other.end_line
        )
        if other is not definition and not (apart or inside or around):
            return other
    return None


def _require_definition(path: str, definition: Definition, old: str, new_text: str) -> None:
    """Raises ToolError if the new text has no definition, although the old one alone is recognised as one."""
    alone, fresh = (parse_file(path, "".join(_dedented(split_lines(text)))).definitions for text in (old, new_text))
    if any(one.name == definition.name for one in alone) and not fresh:
        raise ToolError(
            "invalid_arguments",
            f"new_text defines nothing, but it replaces the whole definition of {definition.qualified_name}",
            hint="give the whole definition, with its first line; use edit_file to change some lines of it",
        )


def _first_line_above(lines: Sequence[str], start: int, definitions: Sequence[Definition], fresh: Sequence[str]) -> int:
    """The first line to replace, from 0: above `start` are decorators or comments, if the new text has such, too."""
    first = next((line.strip() for line in fresh if line.strip()), "")
    kinds = [kind for kind in (ATTRIBUTE, COMMENT) if any(kind.match(line.strip()) for line in _head(fresh))]
    if not first or not kinds:
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
            break  # the new text says nothing of decorators, so none is lost
        at -= 1
        if any(kind.match(line) for kind in kinds):
            found = at
    return found


def _head(fresh: Sequence[str]) -> list[str]:
    """The lines of the new text up to the first that is neither a decorator nor a comment nor inside of one."""
    filled = [line for line in fresh if line.strip()]
    indentation = indentation_of(filled[0]) if filled else ""
    head: list[str] = []
    for line in filled:
        inside = head and indentation_of(line) != indentation
        if not inside and not ATTRIBUTE.match(line.strip()) and not COMMENT.match(line.strip()):
            break
        head.append(line)
    return head


def _dedented(lines: Sequence[str]) -> list[str]:
    white = next((indentation_of(line) for line in lines if line.strip()), "")
    return [line.removeprefix(white) for line in lines]


def _indented(fresh: Sequence[str], stands: str) -> Sequence[str]:
    """The new lines with the indentation that the definition has in the text."""
    filled = [line for line in fresh if line.strip()]
    if not filled or (quoted := indentation_of(filled[0])) == stands:
        return fresh
    found: Sequence[str] | None = None
    if all(line.startswith(quoted) for line in filled):
        dedented = [line.removeprefix(quoted) for line in fresh]
        if not stands:
            found = dedented
        elif len(filled) == 1:
            found = [stands + line if line.strip() else line for line in dedented]
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
