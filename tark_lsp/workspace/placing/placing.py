"""Finds the place that a model means by `old_text` and puts `new_text` there, or says why it cannot; pure.

The steps ("Edits" in safety.md): whole lines exactly, then ignoring spaces at their ends, then with another common
indentation; a part of a line only exactly. Several places are an error unless the line hint distinguishes them. There
are no wildcards: "..." matches only itself. docs/edits.md has the details, with figures.
"""

from collections.abc import Iterator, Sequence

from tark_lsp.errors import ToolError
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.placing.matching import Doubt, Place, exact_places, places_by_step, whole_line_places
from tark_lsp.workspace.placing.quote_errors import (
    SHOWN_CHARACTERS,
    doubtful_place,
    far_from_hint,
    not_found,
    require_complete,
)

__all__ = ["SHOWN_CHARACTERS", "Place", "find_line_places", "not_found", "place_edit"]

CLOSING_TAG, ESCAPED_TAG = "</code>", "<\\/code>"
"""The code snippet format escapes its closing tag; the model can send the escaped tag back."""
SHOWN_PLACES = 10
REACH = 10
"""Lines. A hint that is further away from a place does not support it; models count badly, so some distance is
allowed."""
CLEARLY = 3
"""The hint means the nearest place only if the second nearest is so many times as far away."""


def place_edit(
    text: str, old_text: str, new_text: str, *, line_hint: int | None = None, replace_all: bool = False
) -> str:
    """Returns the whole text with `old_text` replaced by `new_text`, with the line endings around the place.

    `line_hint` counts from 1 and chooses among several places: the nearest one, if it is near and clearly the nearest.
    `replace_all` replaces every exact occurrence. Raises ToolError `not_found`, `not_unique` or `invalid_arguments`.
    """
    if not old_text:
        if text:
            raise ToolError(
                "invalid_arguments",
                "old_text is empty, but the file is not",
                hint="give as old_text the lines to replace; to add lines, give a neighbouring line and repeat it in "
                "new_text; to replace the whole text, use write_file",
            )
        return new_text
    require_complete(text, old_text, new_text)
    for old, new in _unescaped(text, old_text, new_text):
        places = exact_places(text, old, new) if replace_all else []
        for found in places:
            if found.doubt is Doubt.INDENTATION:
                raise doubtful_place(text, found, found.doubt)
        if places:
            return _replace_places(text, places)
        steps = places_by_step(text, old, new)
        for strict, places in enumerate(steps, start=-2):
            if places:
                return _replace_places(text, [_chosen(text, places, steps, line_hint, exact=strict < 0)])
    raise not_found(text, old_text)


def find_line_places(text: str, old_text: str, new_text: str, called: str = "old_text") -> list[Place]:
    """Every place of `old_text` as whole lines, in order, by the first step that finds any.

    `called` is the model's name for the lines. Raises ToolError `not_found` or `invalid_arguments`.
    """
    require_complete(text, old_text, new_text)
    for old, new in _unescaped(text, old_text, new_text):
        found = whole_line_places(text, old, new)
        for found_place in found:
            if found_place.doubt is not None:
                raise doubtful_place(text, found_place, found_place.doubt, called)
        if found:
            return found
    raise not_found(text, old_text, called)


def _unescaped(text: str, old: str, new: str) -> Iterator[tuple[str, str]]:
    """The two texts as they are, then without the escape of the snippet format, if the text can have caused it."""
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
        if found.start >= at:  # an occurrence that overlaps the one before is not replaced again
            parts += text[at : found.start], found.new
            at = found.end
    return "".join([*parts, text[at:]])


def _chosen(
    text: str, places: Sequence[Place], rest: Iterator[list[Place]], line_hint: int | None, *, exact: bool
) -> Place:
    """The only place, or the one that the hint means. `rest` are the steps after the one that found `places`.

    A hint can contradict what was found. If it is near a place that only a more lenient step finds, the edit is
    ambiguous. If it is far from a place that is not `exact`, nothing is found.
    """
    if line_hint is None:
        found = places[0] if len(places) == 1 else None
    else:
        near = sorted(places, key=lambda place: _distance(place, line_hint))[:2]
        if _distance(near[0], line_hint) > REACH:
            others = [place for step in rest for place in step if _distance(place, line_hint) <= REACH]
            places = sorted(
                {place.start: place for place in (*others, *places)}.values(), key=lambda place: place.start
            )
        first, second = _distance(near[0], line_hint), _distance(near[-1], line_hint)
        if len(places) == 1:
            found = places[0]
            if not exact and first > REACH:
                raise far_from_hint(text, found, line_hint)
        else:
            found = near[0] if first <= REACH and first < second and CLEARLY * first <= second else None
    if found is None:
        raise _not_unique(text, places)
    if found.doubt is not None:
        raise doubtful_place(text, found, found.doubt)
    return found


def _distance(found: Place, line_hint: int) -> int:
    return abs(found.line + 1 - line_hint)


def _not_unique(text: str, places: Sequence[Place]) -> ToolError:
    lines = split_lines(text)
    shown = [
        {"line": found.line + 1, "text": lines[found.line].strip()[:SHOWN_CHARACTERS]}
        for found in places[:SHOWN_PLACES]
    ]
    return ToolError(
        "not_unique",
        f"old_text is at {len(places)} places: lines {', '.join(str(place['line']) for place in shown)}"
        + (" and more" if len(places) > SHOWN_PLACES else ""),
        hint="give more of the lines around it, or line_hint with one of these lines",
        details={"places": shown, "count": len(places)},
    )
