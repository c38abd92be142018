"""Finds the lines that a model quotes in a text, and what its edit would put there; pure.

Three steps, from strict to lenient: whole lines exactly; whole lines, ignoring white space at their ends; whole lines
with another common indentation, or a part of a line exactly. placing.py decides which step counts.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from tark_lsp.workspace.lines import changed_ranges, count_lines, ending_of, split_lines
from tark_lsp.workspace.placing.indentation import common_shift, follow_first_line, indent_like, indentation_of

NEWLINE = r"(?:\r\n|\r(?!\n)|(?<!\r)\n)"


class Doubt(Enum):
    """Why a place must not be changed although the quoted text is there; quote_errors.py has the messages."""

    INDENTATION = "the new lines are not indented like the quoted ones"
    WORD = "the quoted text begins or ends within a word"
    LINE = "whole lines are quoted, but in the text the last one is longer"


@dataclass(frozen=True, slots=True)
class Place:
    """`text[start:end]` is to be replaced by `new`; `line` counts from 0."""

    line: int
    start: int
    end: int
    new: str
    doubt: Doubt | None = None


def exact_places(text: str, old: str, new: str) -> list[Place]:
    """Every exact occurrence: as whole lines if `old` has a line ending, else anywhere."""
    whole = next(places_by_step(text, old, new), []) if count_lines(old) else []
    return whole or _part_places(text, old, new)


def whole_line_places(text: str, old: str, new: str) -> list[Place]:
    """Every place of the lines of `old`, by the first step that finds any."""
    wanted = split_lines(old)
    if old != "\n" and "\r" not in text and "\r" not in old:  # as in `places_by_step`, without splitting the text
        found = _found_places(text, old, wanted, new)
        if found:
            return found
    lines = split_lines(text)
    steps = (
        _line_places(lines, wanted, new, same) for same in (_exactly, _without_trailing_space, _without_indentation)
    )
    return next(filter(None, steps), [])


def places_by_step(text: str, old: str, new: str) -> Iterator[list[Place]]:
    """The places of each step, found lazily; neither text is empty."""
    wanted = split_lines(old)
    plain = old != "\n" and "\r" not in text and "\r" not in old
    if plain:  # nearly always; the text is split into lines only if this finds nothing
        yield _found_places(text, old, wanted, new)
    if max(map(str.strip, wanted), key=len) not in text:  # a cheap test that no step finds anything
        return
    lines = split_lines(text)
    if not plain:
        yield _line_places(lines, wanted, new, _exactly)
    yield _line_places(lines, wanted, new, _without_trailing_space)
    # An indented line also contains its unindented text; a second such place makes the quote ambiguous.
    found = _line_places(lines, wanted, new, _without_indentation)
    parts = [
        part
        for part in _part_places(text, old, new)
        if not any(part.start < whole.end and whole.start < part.end for whole in found)
    ]
    yield sorted(found + parts, key=lambda place: place.start)


def _exactly(line: str) -> str:
    return line.rstrip("\r\n")


def _without_trailing_space(line: str) -> str:
    return line.rstrip()


def _without_indentation(line: str) -> str:
    return line.rstrip().lstrip(" \t")


def _found_places(text: str, old: str, wanted: Sequence[str], new: str) -> list[Place]:
    """As `_line_places` for exactly equal lines, if every line ending is `\\n`."""
    body = old.removesuffix("\n")
    found: list[Place] = []
    at = text.find(body)
    line = counted = 0
    while at >= 0:
        end = at + len(body)
        begins = at == 0 or text[at - 1] == "\n"
        if begins and (text.startswith("\n", end) or (end == len(text) and text[-1] != "\n")):
            line += text.count("\n", counted, at)
            counted = at
            here = split_lines(text[at : end + 1])
            found.append(Place(line, at, min(end + 1, len(text)), _block(here, "\n", wanted, new, split_lines(new))))
        at = text.find(body, at + 1)
    return found


def _line_places(lines: Sequence[str], wanted: Sequence[str], new: str, same: Callable[[str], str]) -> list[Place]:
    """The places of the lines `wanted`. Two lines are equal if `same` returns the same text for them.

    `same` removes only white space, so the other lines are compared only if the longest one is found.
    """
    keys = [same(line) for line in wanted]
    size, longest = len(wanted), max(range(len(wanted)), key=lambda k: len(wanted[k].strip()))
    rare = wanted[longest].strip()
    found: list[Place] = []
    offset = counted = 0
    for at in [k - longest for k, line in enumerate(lines) if rare in line]:
        if at < 0 or same(lines[at + longest]) != keys[longest] or [*map(same, lines[at : at + size])] != keys:
            continue
        here = lines[at : at + size]
        shift = ("", "") if same is not _without_indentation else common_shift(wanted, here)
        if shift is None:
            continue
        indented = indent_like(wanted, here, split_lines(new), shift)
        offset += sum(map(len, lines[counted:at]))
        counted = at
        neighbours = (*lines[max(0, at - 1) : at], *here, *lines[at + size : at + size + 1], *lines)
        ending = next(filter(None, map(ending_of, neighbours)), "\n")
        block = _block(here, ending, wanted, new, indented or split_lines(new))
        doubt = Doubt.INDENTATION if indented is None else None
        found.append(Place(at, offset, offset + sum(map(len, here)), block, doubt))
    return found


def _block(here: Sequence[str], ending: str, wanted: Sequence[str], new: str, indented: Sequence[str]) -> str:
    """The new lines, which are `indented` for the text. Lines that the model did not change stay byte for byte; others
    get the line endings around them."""
    fresh = split_lines(new)
    out: list[str] = []
    done = 0
    ranges = changed_ranges([*map(_exactly, wanted)], [*map(_exactly, fresh)])
    for i1, i2, j1, j2 in [*ranges, (len(wanted), len(wanted), len(fresh), len(fresh))]:
        out.extend(here[done:i1])
        for k in range(j1, j2):
            stood = ending_of(here[i1 + k - j1]) if i1 + k - j1 < i2 else ""
            out.append(_exactly(indented[k]) + (stood or (ending_of(out[-1]) if out else "") or ending))
        done = i2
    if not out:
        return ""
    out = [line if ending_of(line) else line + ending for line in out]
    if not ending_of(here[-1]) and not (ending_of(fresh[-1]) and not ending_of(wanted[-1])):
        out[-1] = _exactly(out[-1])
    return "".join(out)


def _part_places(text: str, old: str, new: str) -> list[Place]:
    """Every exact occurrence, also inside a line and across lines; all kinds of line endings are equal.

    The ending of the last line is never replaced: that would join the rest of that line to the next one.
    """
    ended = ending_of(old)
    old, new = old.removesuffix(ended), new.removesuffix(ending_of(new)) if ended else new
    segments = re.split(r"\r\n|\r|\n", old)
    if not old or any(segment not in text for segment in segments):
        return []
    source = NEWLINE.join(map(re.escape, segments)) + (rf"(?={NEWLINE}|\Z)" if ended else "")
    pattern = re.compile(source)
    lines = split_lines(text)
    common = next(filter(None, map(ending_of, lines)), "\n")
    fresh = split_lines(new)
    found: list[Place] = []
    line = counted = 0
    match = pattern.search(text)
    while match:
        start, end = match.span()
        line += count_lines(text[counted:start])
        counted = start
        ending = ending_of(lines[line]) or common
        doubt = _doubt_of_part(text, start, end, old, new)
        indented = _indented_part(text, start, old, fresh)
        block = "".join(_exactly(one) + (ending if ending_of(one) else "") for one in indented or fresh)
        found.append(Place(line, start, end, block, doubt if indented is not None else Doubt.INDENTATION))
        match = pattern.search(text, start + 1)
    return found


def _indented_part(text: str, start: int, old: str, fresh: Sequence[str]) -> list[str] | None:
    """The new lines for a part without its indentation at the beginning of a line. None if that is uncertain."""
    before = _line_before(text, start)
    several = sum(bool(line.strip()) for line in fresh) > 1
    if count_lines(old) or not before or before.strip() or not several or indentation_of(fresh[0]) or not old.strip():
        return list(fresh)
    indented = follow_first_line(fresh, "", before, alone=True)
    return indented and [indented[0].removeprefix(before), *indented[1:]]


def _line_before(text: str, at: int) -> str:
    """What stands before `at` in its line, at most 1000 characters."""
    return re.split(r"[\r\n]", text[max(0, at - 1000) : at])[-1]


def _doubt_of_part(text: str, start: int, end: int, old: str, new: str) -> Doubt | None:
    if any(at > 0 and re.fullmatch(r"\w\w", text[at - 1 : at + 1]) for at in (start, end)):
        return Doubt.WORD
    before = _line_before(text, start)
    after = re.split(r"[\r\n]", text[end : end + 1000], maxsplit=1)[0]
    if before.strip():
        return None
    if after.strip() and (old[0] in " \t" or count_lines(old)):
        return Doubt.LINE
    return Doubt.INDENTATION if before and old[0] not in " \t" and new.startswith((" ", "\t")) else None
