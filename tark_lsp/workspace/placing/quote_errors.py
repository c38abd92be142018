"""Explains why text that a model quotes is not in the file, and finds what its new text leaves out; pure."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tark_lsp.errors import ToolError
from tark_lsp.workspace.lines import changed_ranges, split_lines
from tark_lsp.workspace.placing.matching import Doubt, Place
from tark_lsp.workspace.placing.nearest import SHOWN_LINES, nearest_lines

SHOWN_CHARACTERS = 300
COPY = "copy {called} from the file as it is now, whole lines with their indentation"

Cause: TypeAlias = tuple[str, int | None]
"""What is wrong with the quoted text and what to do; empty if it is not that. The line (from 0) that is meant."""

DOTS = re.compile(r"^\W*(\.\.\.|…)")
COMMENTED = re.compile(r"^\s*(?:#+|//+|--+|;+|%+|/\*+|\{/\*|<!--|\*)\s*(?P<said>.*?)\s*(?:\*/\}?|-->)?\s*$")
_DOTS = r"(?:\.\.\.|…)"
_LEFT = r"existing|rest|remaining|remainder|unchanged|same|previous|original|omitted|elided|as before|keep|code"
LEFT_OUT = re.compile(
    rf"[\s([]*(?:{_DOTS}[\s)\]]*$|{_DOTS}.*\b(?:{_LEFT})\b|(?:the )?(?:{_LEFT})\b.*{_DOTS}[\s)\]]*$)", re.IGNORECASE
)
"""The text of a comment that stands for lines: dots alone, or dots with one of these words before or after."""
NUMBERED = re.compile(r"^[ \t]*(\d+)[ \t]?(?:[|:│→]|\t)[ ]?")
LOOK_ALIKE = str.maketrans("‘’‚‛“”„‟′″‐‑‒–—―−", "''''\"\"\"\"'\"-------")
"""Characters that look like those on a keyboard. NFKC converts the no-break space and full-width forms."""

DOUBTS = {
    Doubt.INDENTATION: (
        "{called} is at line {line}, but with another indentation, and the new lines have yet another one",
        "give both the old and the new lines with the indentation of the file",
    ),
    Doubt.WORD: (
        "{called} is at line {line} only with a letter, digit or _ right before or after it, so within a word",
        "give the whole line",
    ),
    Doubt.LINE: (
        "{called} is at line {line}, but its last line goes on in the file",
        "the file may have changed since you read it: give the whole lines as they are now",
    ),
}


def not_found(text: str, old: str, called: str = "old_text") -> ToolError:
    """The error with the nearest lines, and the cause if it can be found. `called` is the model's name for `old`."""
    copy = COPY.format(called=called)
    lines, wanted = split_lines(text), split_lines(old)
    said, at = "", None
    for cause in (_elided, _numbered, _lookalike, _spaced):
        said, at = cause(lines, wanted, called)
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


def doubtful_place(text: str, place: Place, doubt: Doubt, called: str = "old_text") -> ToolError:
    """The error if the quoted text was found, but its place is in doubt. It shows the lines at that place."""
    lines = split_lines(text)
    size = max(1, len(split_lines(text[place.start : place.end])))
    message, hint = DOUBTS[doubt]
    near = range(place.line, min(len(lines), place.line + size))
    details = {"nearest": shown_lines(lines, near)}
    return ToolError("not_found", message.format(called=called, line=place.line + 1), hint=hint, details=details)


def far_from_hint(text: str, place: Place, line_hint: int) -> ToolError:
    """The error for text that is there, but neither exactly as quoted nor at the line the model gives."""
    message = f"old_text is not at line {line_hint}; something like it is only at line {place.line + 1}"
    details = {"nearest": shown_lines(split_lines(text), range(place.line, place.line + 1))}
    hint = f"if that is the place, give line_hint {place.line + 1}; else {COPY.format(called='old_text')}"
    return ToolError("not_found", message, hint=hint, details=details)


def shown_lines(lines: Sequence[str], which: Sequence[int]) -> list[dict[str, int | str]]:
    return [{"line": at + 1, "text": lines[at].rstrip("\r\n")[:SHOWN_CHARACTERS]} for at in which]


def require_complete(text: str, old: str, new: str) -> None:
    """Raises ToolError if `new` leaves lines out with a placeholder, or has the line numbers of a listing.

    A line that `old` has as well is not a placeholder. Neither is a comment that replaces no line and is in the text
    already, nor are dots alone that replace no line or only `pass`. Dots that replace the body of a function are
    refused, although they can be a Python stub: a stub can be written on the line of its header.
    """
    wanted, fresh = split_lines(old), split_lines(new)
    known = {line.strip() for line in wanted}
    for i1, i2, j1, j2 in changed_ranges([line.rstrip() for line in wanted], [line.rstrip() for line in fresh]):
        for at in range(j1, j2):
            line = fresh[at].strip()
            dots = line in ("...", "…") and any(gone.strip() not in ("", "pass") for gone in wanted[i1:i2])
            if line in known or not (dots or (_stands_for_lines(line) and (i2 > i1 or line not in text))):
                continue
            raise ToolError(
                "invalid_arguments",
                f"the new text leaves lines out: {line[:SHOWN_CHARACTERS]}",
                hint="write out every line, or replace fewer lines; if you mean the comment literally, write it "
                "without dots; a stub goes on one line: def f(): ...",
            )
    bare = _without_numbers(fresh)
    if bare and not _without_numbers(wanted) and {line.strip() for line in bare} & (known - {""}):
        raise ToolError(
            "invalid_arguments", "the new lines begin with line numbers", hint="give them without the numbers"
        )


def _stands_for_lines(line: str) -> bool:
    comment = COMMENTED.match(line)
    return comment is not None and LEFT_OUT.match(comment["said"]) is not None


def _without_numbers(lines: Sequence[str]) -> list[str]:
    """The lines without their numbers; empty unless every line has one, each one higher than the last."""
    matches = [NUMBERED.match(line) for line in lines]
    numbers = [int(match[1]) for match in matches if match]
    if not numbers or numbers != list(range(numbers[0], numbers[0] + len(lines))):
        return []
    return [line[match.end() :] for line, match in zip(lines, matches, strict=True) if match]


def _elided(lines: Sequence[str], wanted: Sequence[str], called: str) -> Cause:
    dots = {line.strip() for line in wanted if DOTS.match(line) or _stands_for_lines(line)}
    if not dots or not dots.difference(line.strip() for line in lines):
        return "", None
    return f'write out what "..." stands for: nothing may be left out of {called}; {COPY.format(called=called)}', None


def _numbered(lines: Sequence[str], wanted: Sequence[str], called: str) -> Cause:
    bare = _without_numbers(wanted)
    at = _find(lines, bare, str.strip) if bare else None
    if at is None:
        return "", None
    return f"give {called} without the line numbers at the beginning of each line, and the new lines likewise", at


def _lookalike(lines: Sequence[str], wanted: Sequence[str], called: str) -> Cause:
    plain = all(map(str.isascii, lines)) and all(map(str.isascii, wanted))
    at = None if plain else _find(lines, wanted, _plain)
    if at is None:
        return "", None
    for k, line in enumerate(wanted):
        for a, b in zip(line.strip(), lines[at + k].strip(), strict=False):
            if a != b:
                said = (
                    f"line {at + k + 1} of the file has {_named(b)} where {called} has {_named(a)}: give such "
                    "characters as they are in the file"
                )
                return said, at
    return "", None


def _spaced(lines: Sequence[str], wanted: Sequence[str], called: str) -> Cause:
    at = _find(lines, wanted, lambda line: "".join(line.split()))
    if at is None:
        return "", None
    here = lines[at : at + len(wanted)]
    tabs, spaces = (any(line.startswith("\t") for line in some) for some in (here, wanted))
    kind = "tabs" if tabs and not spaces else "spaces" if spaces and not tabs else "other white space"
    return (
        f"only white space differs from line {at + 1} on, where the file has {kind}: {COPY.format(called=called)}",
        at,
    )


def _find(lines: Sequence[str], wanted: Sequence[str], key: Callable[[str], str]) -> int | None:
    keys, sought = [key(line) for line in lines], [key(line) for line in wanted]
    if not any(sought):
        return None
    size = len(sought)
    return next(
        (at for at in range(len(keys) - size + 1) if keys[at] == sought[0] and keys[at : at + size] == sought), None
    )


def _plain(line: str) -> str:
    """The line in NFKC, which is slow and changes nothing in ASCII."""
    return (line if line.isascii() else unicodedata.normalize("NFKC", line.translate(LOOK_ALIKE))).strip()


def _named(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip()
