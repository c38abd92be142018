"""Finds the place that a model means by `old_text` and puts `new_text` there, or says why it cannot; pure.

The steps (edits.md): whole lines exactly, then ignoring spaces at their ends, then with another common
indentation; a part of a line only exactly. Several places are an error unless the line hint distinguishes them. There
are no wildcards: "..." matches only itself. docs/edits.md has the details, with figures.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import nsmallest

from tark_lsp.errors import ToolError
from tark_lsp.workspace.placing.building import Doubt, Place, build_place, doubt_of_part, stands_already
from tark_lsp.workspace.placing.deadline import check_time, limited_time
from tark_lsp.workspace.placing.left_out import require_complete, require_no_numbers
from tark_lsp.workspace.placing.matching import exact_spots, line_spots, spots_by_step
from tark_lsp.workspace.placing.quote_errors import (
    SHOWN_CHARACTERS,
    doubtful_place,
    far_from_hint,
    not_found,
)
from tark_lsp.workspace.placing.quotes import Quote, Spot, Way
from tark_lsp.workspace.placing.searching import TextLines

__all__ = ["SHOWN_CHARACTERS", "Place", "find_line_spots", "not_found", "place_edit", "place_of"]

CLOSING_TAG, ESCAPED_TAG = "</code>", "<\\/code>"
"""The code snippet format escapes its closing tag; the model can send the escaped tag back."""
SHOWN_PLACES = 10
REACH = 10
"""In lines. A hint that is further away from a place does not support it. Models count badly, so some distance is
allowed."""
CLEARLY = 3
"""The hint means the nearest place only if the second nearest place is this many times as far away."""


def place_edit(
    text: str,
    old_text: str,
    new_text: str,
    *,
    line_hint: int | None = None,
    replace_all: bool = False,
    prose: bool = False,
) -> str:
    """Returns the whole text with `old_text` replaced by `new_text`, with the line endings around the place.

    `line_hint` counts from 1 and chooses among several places: the nearest one, if it is near and clearly the nearest.
    `replace_all` replaces every exact occurrence. `prose`: the text is not code, so nothing in `new_text` is taken for
    a placeholder. The text stays as it is if the new text is already there. Raises ToolError.
    """
    if not old_text.strip():
        if not old_text and not text:
            return new_text
        raise _blank(old_text)
    with limited_time():
        if not prose:
            require_complete(text, old_text, new_text)
        lines = TextLines(text)
        for old, new in _unescaped(text, old_text, new_text):
            quote = Quote(old, new)
            spots = exact_spots(lines, quote) if replace_all else []
            if spots:
                return _replace_places(text, list(_at_every_spot(lines, spots)))
            steps = spots_by_step(lines, quote)
            for spots in steps:
                if spots:
                    spot = _chosen(lines, spots, steps, line_hint)
                    if not prose:
                        require_no_numbers(old, new, spot.line + 1)
                    place = place_of(lines, spot)
                    return text if stands_already(lines, place, spot) else _replace_places(text, [place])
        raise not_found(lines, old_text)


def _blank(old_text: str) -> ToolError:
    what = "has only blank lines" if old_text else "is empty, but the file is not"
    return ToolError(
        "invalid_arguments",
        f"old_text {what}",
        hint="give as old_text the lines to replace; to add or remove blank lines, give a neighbouring line and repeat "
        "it in new_text; to replace the whole text, use write_file",
    )


def find_line_spots(text: TextLines, old_text: str, new_text: str, called: str = "old_text") -> list[Spot]:
    """Every place of `old_text` as whole lines, in order, by the first step that finds any.

    `called` is the model's name for the lines. Raises ToolError `not_found` or `invalid_arguments`.
    """
    for old, new in _unescaped(text.text, old_text, new_text):
        found = next(filter(None, line_spots(text, Quote(old, new))), None)
        if found:
            return found
    raise not_found(text, old_text, called)


def place_of(text: TextLines, spot: Spot, called: str = "old_text") -> Place:
    """The place with its new text. Raises ToolError if the edit must not be made there."""
    place = build_place(text, spot)
    if place.doubt is not None:
        raise doubtful_place(text.text, place, place.doubt, called, spot.quote.wanted)
    return place


def _at_every_spot(text: TextLines, spots: Iterable[Spot]) -> Iterator[Place]:
    """Like `place_of`, for `replace_all`, which includes parts of words. If two places overlap, the first counts."""
    end = 0
    built: dict[str, Place] = {}
    for spot in spots:
        check_time()
        if spot.start < end:
            continue
        end = spot.end
        here = text.text[spot.start : spot.end]
        alike = built.get(here) if spot.way is Way.EXACT else None
        place = alike and replace(alike, line=spot.line, start=spot.start, end=spot.end)
        place = built[here] = place or build_place(text, spot)
        if place.doubt is Doubt.INDENTATION:
            raise doubtful_place(text.text, place, place.doubt)
        if not stands_already(text, place, spot):
            yield place


def _unescaped(text: str, old: str, new: str) -> Iterator[tuple[str, str]]:
    """The two texts as they are, then without the escape of the snippet format, if the text may have caused it."""
    if ESCAPED_TAG not in old + new or CLOSING_TAG not in text:
        yield old, new
        return
    plain = new.replace(ESCAPED_TAG, CLOSING_TAG)
    yield old, new if ESCAPED_TAG in text else plain
    if ESCAPED_TAG in old:
        yield old.replace(ESCAPED_TAG, CLOSING_TAG), plain


def _replace_places(text: str, places: Sequence[Place]) -> str:
    parts: list[str] = []
    at = 0
    for found in places:
        parts += text[at : found.start], found.new
        at = found.end
    return "".join([*parts, text[at:]])


def _chosen(text: TextLines, spots: Sequence[Spot], rest: Iterator[list[Spot]], line_hint: int | None) -> Spot:
    """The only place, or the place that the hint means. `rest`: the steps after the step that found `spots`.

    A hint can contradict what was found. If it is nearer to a place that only a more lenient step finds, the edit is
    ambiguous. If it is far from a place that was not found exactly, nothing is found.
    """
    if line_hint is None:
        if len(spots) > 1:
            raise _not_unique(text, spots)
        return spots[0]
    near = nsmallest(2, spots, key=lambda spot: _distance(spot, line_hint))
    first, second = _distance(near[0], line_hint), _distance(near[-1], line_hint)
    others = [spot for spot in _nearer(rest, line_hint, min(first, REACH + 1)) if not _is_within_word(text, spot)]
    if others:
        every = {spot.start: spot for spot in (*others, *(spots if first > REACH else near[:1]))}
        raise _not_unique(text, sorted(every.values(), key=lambda spot: spot.start))
    if len(spots) == 1:
        if spots[0].way not in (Way.EXACT, Way.TRAILING) and first > REACH:
            raise far_from_hint(text.text, spots[0].line, line_hint)
        return spots[0]
    if first <= REACH and first < second and CLEARLY * first <= second:
        return near[0]
    raise _not_unique(text, spots)


def _nearer(rest: Iterator[list[Spot]], line_hint: int, limit: int) -> Iterator[Spot]:
    """The places of more lenient steps that are less than `limit` lines away from the hint."""
    if limit > 0:
        for step in rest:
            yield from (spot for spot in step if _distance(spot, line_hint) < limit)


def _is_within_word(text: TextLines, spot: Spot) -> bool:
    return spot.way is Way.PART and doubt_of_part(text.text, spot) is Doubt.WORD


def _distance(found: Spot, line_hint: int) -> int:
    return abs(found.line + 1 - line_hint)


def _not_unique(text: TextLines, spots: Sequence[Spot]) -> ToolError:
    shown = [
        {"line": found.line + 1, "text": text.lines[found.line].strip()[:SHOWN_CHARACTERS]}
        for found in spots[:SHOWN_PLACES]
    ]
    return ToolError(
        "not_unique",
        f"old_text is at {len(spots)} places: lines {', '.join(str(place['line']) for place in shown)}"
        + (" and more" if len(spots) > SHOWN_PLACES else ""),
        hint="give more of the lines around it, or line_hint with one of these lines",
        details={"places": shown, "count": len(spots)},
    )
