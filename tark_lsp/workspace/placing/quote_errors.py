"""Explains why text that a model quotes is not in the file; pure."""

import unicodedata
from collections.abc import Sequence
from typing import TypeAlias

from tark_lsp.errors import ToolError
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.placing.adapting import plain
from tark_lsp.workspace.placing.building import Doubt, Place
from tark_lsp.workspace.placing.deadline import check_time
from tark_lsp.workspace.placing.left_out import DOTS, numbers_of, stands_for_lines
from tark_lsp.workspace.placing.nearest import SHOWN_LINES, nearest_lines
from tark_lsp.workspace.placing.searching import Key, TextLines, find_block

SHOWN_CHARACTERS = 300
COPY = "copy {called} from the file as it is now, whole lines with their indentation"

Cause: TypeAlias = tuple[str, int | None]
"""What is wrong with the quoted text and what to do (empty if this is not the cause), and the line (from 0)."""

DOUBTS = {
    Doubt.INDENTATION: (
        "{called} is at line {line}, but with another indentation, and the new lines have yet another one",
        "give both the old and the new lines with the indentation of the file",
    ),
    Doubt.WORD: (
        "{called} is at line {line} only with a letter, digit or _ right before or after it, so within a word",
        "give the whole line",
    ),
    Doubt.LOOK_ALIKE: (
        "{called} is at line {line}, but with other characters, and the new lines change words that have them",
        "give characters such as quotes, dashes and spaces as they are in the file: {signs}",
    ),
    Doubt.BLANK_LINES: (
        "{called} is at line {line}, but with another number of blank lines, and the new lines change blank lines",
        "give the blank lines as they are in the file",
    ),
    Doubt.LINE: (
        "{called} is at line {line}, but its last line goes on in the file",
        "the file may have changed since you read it: give the whole lines as they are now",
    ),
}


def not_found(text: TextLines, old: str, called: str = "old_text") -> ToolError:
    """The error with the nearest lines, and the cause if it can be found. `called` is the model's name for `old`."""
    copy = COPY.format(called=called)
    lines, wanted = text.lines, split_lines(old)
    said, at = "", None
    for cause in (_elided, _numbered, _lookalike, _spaced):
        check_time()
        said, at = cause(text, wanted, called)
        if said:
            break
    said = said or f"{copy}; if you have it from an earlier read, the file has changed since: read it again"
    near = nearest_lines(lines, wanted) if at is None else range(at, at + min(len(wanted), SHOWN_LINES))
    if not near:
        return ToolError(
            "not_found", f"{called} is not in the file, nor anything like it", hint=f"read the file again; {said}"
        )
    return ToolError(
        "not_found",
        f"{called} is not in the file; the nearest lines are {near[0] + 1} to {near[-1] + 1}",
        hint=said,
        details={"nearest": shown_lines(lines, near)},
    )


def doubtful_place(
    text: str, place: Place, doubt: Doubt, called: str = "old_text", wanted: Sequence[str] = ()
) -> ToolError:
    """The error if the quoted text was found, but its place is in doubt. It shows the lines at that place."""
    lines = split_lines(text)
    signs = next((_differing(a, b, called) for a, b in zip(wanted, lines[place.line :], strict=False) if a != b), "")
    size = max(1, len(split_lines(text[place.start : place.end])))
    message, hint = DOUBTS[doubt]
    near = range(place.line, min(len(lines), place.line + size))
    details = {"nearest": shown_lines(lines, near)}
    return ToolError(
        "not_found", message.format(called=called, line=place.line + 1), hint=hint.format(signs=signs), details=details
    )


def far_from_hint(text: str, line: int, line_hint: int) -> ToolError:
    """The error for text that is there, but neither exactly as quoted nor at the line that the model gives."""
    message = f"old_text is not at line {line_hint}; something like it is only at line {line + 1}"
    details = {"nearest": shown_lines(split_lines(text), range(line, line + 1))}
    hint = f"if that is the place, give line_hint {line + 1}; else {COPY.format(called='old_text')}"
    return ToolError("not_found", message, hint=hint, details=details)


def shown_lines(lines: Sequence[str], which: Sequence[int]) -> list[dict[str, int | str]]:
    return [{"line": at + 1, "text": lines[at].rstrip("\r\n")[:SHOWN_CHARACTERS]} for at in which]


def _elided(text: TextLines, wanted: Sequence[str], called: str) -> Cause:
    dots = {one for line in wanted if (one := line.strip()).startswith(DOTS) or stands_for_lines(one)}
    if not dots or not dots.difference(line.strip() for line in text.lines):
        return "", None
    return f'write out what "..." stands for: nothing may be left out of {called}; {COPY.format(called=called)}', None


def _numbered(text: TextLines, wanted: Sequence[str], called: str) -> Cause:
    found = numbers_of(wanted)
    at = _find(text, found[2], str.strip) if found else None
    if at is None:
        return "", None
    return f"give {called} without the line numbers at the beginning of each line, and the new lines likewise", at


def _lookalike(text: TextLines, wanted: Sequence[str], called: str) -> Cause:
    ascii_only = text.text.isascii() and all(map(str.isascii, wanted))
    at = None if ascii_only else _find(text, wanted, plain)
    if at is None:
        return "", None
    for k, line in enumerate(wanted):
        said = _differing(line.strip(), text.lines[at + k].strip(), called)
        if said:
            return f"line {at + k + 1} of the file has {said}: give such characters as they are in the file", at
    return "", None


def _differing(quoted: str, line: str, called: str) -> str:
    """The first two characters that differ, by name."""
    pairs = zip(quoted.rstrip(), line.rstrip(), strict=False)
    return next((f"{_named(b)} where {called} has {_named(a)}" for a, b in pairs if a != b), "")


def _spaced(text: TextLines, wanted: Sequence[str], called: str) -> Cause:
    at = _find(text, wanted, _without_spaces)
    if at is None:
        return "", None
    here = text.lines[at : at + len(wanted)]
    tabs, spaces = (any(line.startswith("\t") for line in some) for some in (here, wanted))
    kind = "tabs" if tabs and not spaces else "spaces" if spaces and not tabs else "other white space"
    return (
        f"only white space differs from line {at + 1} on, where the file has {kind}: {COPY.format(called=called)}",
        at,
    )


def _find(text: TextLines, wanted: Sequence[str], key: Key) -> int | None:
    """The first line at which the lines are found. Does not search for lines with only white space."""
    if not any(map(key, wanted)):
        return None
    return next(iter(find_block(text, wanted, key)), None)


def _without_spaces(line: str) -> str:
    return "".join(line.split())


def _named(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip()
