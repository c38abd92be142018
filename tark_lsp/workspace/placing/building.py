"""Builds the text that an edit puts at a place: indentation, line endings and unchanged lines as in the file; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from tark_lsp.workspace.lines import changed_ranges, count_lines, ending_of, split_lines
from tark_lsp.workspace.placing.adapted import with_blank_lines, with_characters, with_width
from tark_lsp.workspace.placing.deadline import check_time, checked_each
from tark_lsp.workspace.placing.indentation import common_shift, follow_first_line, indent_like, indentation_of
from tark_lsp.workspace.placing.quotes import Spot, Way
from tark_lsp.workspace.placing.searching import TextLines, exactly

AROUND = 1_000
"""In characters. A line can have millions, and a quote can be in it thousands of times."""


class Doubt(Enum):
    """Why a place must not be changed although the quoted text is there; quote_errors.py has the messages."""

    INDENTATION = "the new lines are not indented like the quoted ones"
    WORD = "the quoted text begins or ends within a word"
    LINE = "whole lines are quoted, but in the text the last one is longer"
    LOOK_ALIKE = "the changed words have characters that look like those of the text, but are others"
    BLANK_LINES = "blank lines are changed that are not those of the text"


ADAPTED = {
    Way.WIDTH: with_width,
    Way.LOOK_ALIKE: with_characters,
    Way.BLANK_LINES: with_blank_lines,
}
DOUBTS = {Way.LOOK_ALIKE: Doubt.LOOK_ALIKE, Way.BLANK_LINES: Doubt.BLANK_LINES}


@dataclass(frozen=True, slots=True)
class Place:
    """`text[start:end]` is to be replaced by `new`; `line` counts from 0."""

    line: int
    start: int
    end: int
    new: str
    doubt: Doubt | None = None


def build_place(text: TextLines, spot: Spot) -> Place:
    """The place with its new text, and with a doubt if the edit must not be made there."""
    return _part(text, spot) if spot.way is Way.PART else _whole_lines(text, spot)


def stands_already(text: TextLines, place: Place, spot: Spot) -> bool:
    """Whether the new text is already around the place: it contains what is there, and the lines there contain it."""
    stood = text.text[place.start : place.end]
    if len(place.new) <= len(stood) or not stood.strip():
        return False
    if spot.way is Way.PART:
        found = (at for at in _offsets(place.new, stood) if text.text.startswith(place.new, place.start - at))
        return any(place.start >= at and _is_whole_word(text.text, place.start - at, place.new) for at in found)
    fresh = [line.rstrip() for line in split_lines(place.new)]
    here = [line.rstrip() for line in split_lines(stood)]
    size = len(fresh)
    return size > len(here) and any(
        fresh[at : at + len(here)] == here
        and spot.line >= at
        and [line.rstrip() for line in _lines_around(text, spot, at, size - len(here) - at)] == fresh
        for at in range(size - len(here) + 1)
        if checked_each(at)
    )


def _lines_around(text: TextLines, spot: Spot, before: int, after: int) -> list[str]:
    """The lines of the place, with this many before and after it. If possible, does not split the whole text."""
    if "\r" in text.text:
        return text.lines[spot.line - before : spot.line + spot.size + after]
    start, end = spot.start, spot.end
    for _ in range(before):
        start = text.text.rfind("\n", 0, max(0, start - 1)) + 1
    for _ in range(after):
        end = text.text.find("\n", end) + 1 or len(text.text)
    return split_lines(text.text[start:end])


def _offsets(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        check_time()
        yield at
        at = text.find(part, at + 1)


def _is_whole_word(text: str, start: int, new: str) -> bool:
    return not _within_word(text, start) and not _within_word(text, start + len(new))


def _whole_lines(text: TextLines, spot: Spot) -> Place:
    here = split_lines(text.text[spot.start : spot.end])
    wanted, fresh = spot.quote.wanted, spot.quote.fresh
    indented: list[str] | None = fresh
    if spot.way is Way.INDENTED:
        indented = indent_like(wanted, here, fresh, common_shift(wanted, here) or ("", ""))
    elif spot.way in ADAPTED:
        indented = ADAPTED[spot.way](wanted, here, fresh)
    if indented is None:
        return Place(spot.line, spot.start, spot.end, "", DOUBTS.get(spot.way, Doubt.INDENTATION))
    if spot.way is Way.BLANK_LINES:
        block = _joined_lines(text, spot, here, indented)
    else:
        block = new_block(text, spot, here, indented)
    return Place(spot.line, spot.start, spot.end, block)


def new_block(text: TextLines, spot: Spot, here: Sequence[str], indented: Sequence[str]) -> str:
    """The new lines, which are `indented` for the text. Lines that the model did not change stay byte for byte. Others
    get the line endings around them."""
    wanted, fresh = spot.quote.wanted, spot.quote.fresh
    out: list[str] = []
    done = 0
    ranges = changed_ranges([*map(exactly, wanted)], [*map(exactly, fresh)])
    for i1, i2, j1, j2 in [*ranges, (len(wanted), len(wanted), len(fresh), len(fresh))]:
        out.extend(here[done:i1])
        for k in range(j1, j2):
            stood = ending_of(here[i1 + k - j1]) if i1 + k - j1 < i2 else ""
            ending = stood or (ending_of(out[-1]) if out else "") or _ending(text, spot)
            out.append(exactly(indented[k]) + ending)
        done = i2
    if not out:
        return ""
    out = [line if ending_of(line) else line + _ending(text, spot) for line in out]
    if not ending_of(here[-1]) and not (ending_of(fresh[-1]) and not ending_of(wanted[-1])):
        out[-1] = exactly(out[-1])
    return "".join(out)


def _joined_lines(text: TextLines, spot: Spot, here: Sequence[str], lines: Sequence[str]) -> str:
    ending = _ending(text, spot)
    joined = "".join(line if line in here and ending_of(line) else exactly(line) + ending for line in lines)
    return joined if ending_of(here[-1]) else joined.removesuffix(ending)


def _ending(text: TextLines, spot: Spot) -> str:
    if "\r" not in text.text:
        return "\n"
    return text.ending_near(spot.line, spot.line + spot.size)


def _part(text: TextLines, spot: Spot) -> Place:
    old, new = _without_last_ending(spot.quote.old, spot.quote.new)
    fresh = split_lines(new)
    before, after = _line_around(text.text, spot.start, spot.end)
    indented = _indented_part(before, old, fresh)
    doubt = doubt_of_part(text.text, spot) if indented is not None else Doubt.INDENTATION
    start, end = spot.start, spot.end
    fresh = indented or fresh
    if not before.strip() and not after.strip() and not (fresh and fresh[0].strip()):  # leave no line of white space
        start -= len(before)
        fresh = ["" + ending_of(fresh[0]), *fresh[1:]] if fresh else []
        if not spot.quote.new:
            end += len(after)
            end += len(_ending_at(text.text, end))
    ending = text.ending_near(spot.line, spot.line + 1) if len(fresh) > 1 or count_lines(new) else ""
    block = "".join(exactly(line) + (ending if ending_of(line) else "") for line in fresh)
    return Place(spot.line, start, end, block, doubt)


def _without_last_ending(old: str, new: str) -> tuple[str, str]:
    ended = ending_of(old)
    return (old.removesuffix(ended), new.removesuffix(ending_of(new))) if ended else (old, new)


def _ending_at(text: str, at: int) -> str:
    return "\r\n" if text.startswith("\r\n", at) else text[at : at + 1]


def _line_around(text: str, start: int, end: int) -> tuple[str, str]:
    """The text before `start` and after `end` in their lines, at most `AROUND` characters each."""
    low, high = max(0, start - AROUND), min(len(text), end + AROUND)
    first = max(text.rfind("\n", low, start), text.rfind("\r", low, start), low - 1) + 1
    ends = [at for at in (text.find("\n", end, high), text.find("\r", end, high)) if at >= 0]
    return text[first:start], text[end : min(ends, default=high)]


def _indented_part(before: str, old: str, fresh: Sequence[str]) -> list[str] | None:
    """The new lines for a part that is quoted without the indentation of its line. None if that is uncertain."""
    several = sum(bool(line.strip()) for line in fresh) > 1
    if count_lines(old) or not before or before.strip() or not several or indentation_of(fresh[0]) or not old.strip():
        return list(fresh)
    indented = follow_first_line(fresh, "", before, alone=True)
    return indented and [indented[0].removeprefix(before), *indented[1:]]


def doubt_of_part(text: str, spot: Spot) -> Doubt | None:
    start, end = spot.start, spot.end
    old, new = _without_last_ending(spot.quote.old, spot.quote.new)
    quoted, fresh = split_lines(old), split_lines(new)
    first = next(at for at, line in enumerate(quoted) if line.strip())
    before, after = _line_around(text, start, end)
    before = "" if first else before  # the quote has the line break before its first words
    rest_stays = len(quoted) > 1 and len(fresh) > 1 and quoted[-1] == fresh[-1]
    if not first and _within_word(text, start):
        return Doubt.WORD
    if not rest_stays and _within_word(text, end):
        return Doubt.WORD
    if before.strip():
        return None
    if after.strip() and not rest_stays and (old[0] in " \t" or count_lines(old)):
        return Doubt.LINE
    other = new.strip() and new.startswith((" ", "\t"))
    return Doubt.INDENTATION if before and old[0] not in " \t" and other else None


def _within_word(text: str, at: int) -> bool:
    return at > 0 and all(one.isalnum() or one == "_" for one in text[at - 1 : at + 1]) and at < len(text)
