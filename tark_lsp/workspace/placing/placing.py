"""Find the place a model means by `old_text`, and put `new_text` there, or say why that cannot be done; pure.

The recipe of the design ("Edits" in safety.md): whole lines exactly, then but for spaces at their ends, then uniformly
re-indented; a part of a line only exactly. Several places are an error unless the line hint tells them apart. Nothing
stands for anything else: "..." matches only itself. docs/edits.md has the whole of it, with figures.
"""

from collections.abc import Iterator, Sequence

from tark_lsp.errors import ToolError
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.placing.matching import Place, exact_places, places_by_step, whole_line_places
from tark_lsp.workspace.placing.misquoted import SHOWN_CHARACTERS, doubtful, far_from_hint, not_found, require_whole

__all__ = ["SHOWN_CHARACTERS", "Place", "line_places", "not_found", "place"]

CLOSING_TAG, ESCAPED_TAG = "</code>", "<\\/code>"
"""The code snippet format escapes the tag that ends it; the model may send the escape back."""
SHOWN_PLACES = 10
REACH = 10
"""Lines; a hint further away than this from a place says nothing for it, since models count badly."""
CLEARLY = 3
"""So many times as far away must the second place be, for the hint to mean the first."""


def place(text: str, old_text: str, new_text: str, *, line_hint: int | None = None, replace_all: bool = False) -> str:
    """The whole text with `old_text` replaced by `new_text`, line endings kept as they are around the place.

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
    require_whole(text, old_text, new_text)
    for old, new in _unescaped(text, old_text, new_text):
        places = exact_places(text, old, new) if replace_all else []
        if places:
            return _put(text, places)
        steps = places_by_step(text, old, new)
        for strict, places in enumerate(steps, start=-2):
            if places:
                return _put(text, [_chosen(text, places, steps, line_hint, exact=strict < 0)])
    raise not_found(text, old_text)


def line_places(text: str, old_text: str, new_text: str, called: str = "old_text") -> list[Place]:
    """Every place where `old_text` stands as whole lines, in order, by the first step of the recipe that finds any.

    `called` is what the model calls the lines. Raises ToolError `not_found` or `invalid_arguments`.
    """
    require_whole(text, old_text, new_text)
    for old, new in _unescaped(text, old_text, new_text):
        found = whole_line_places(text, old, new)
        for one in found:
            if one.doubt is not None:
                raise doubtful(text, one, one.doubt, called)
        if found:
            return found
    raise not_found(text, old_text, called)


def _unescaped(text: str, old: str, new: str) -> Iterator[tuple[str, str]]:
    """The two texts as they are, then without the escape of the snippet format, where the text may have made it so."""
    if ESCAPED_TAG not in old + new or CLOSING_TAG not in text:
        yield old, new
        return
    plain = new.replace(ESCAPED_TAG, CLOSING_TAG)
    yield old, new if ESCAPED_TAG in text else plain
    if ESCAPED_TAG in old:
        yield old.replace(ESCAPED_TAG, CLOSING_TAG), plain


def _put(text: str, places: Sequence[Place]) -> str:
    parts: list[str] = []
    at = 0
    for found in places:
        if found.start >= at:  # Occurrences that overlap the one before are not replaced again.
            parts += text[at : found.start], found.new
            at = found.end
    return "".join([*parts, text[at:]])


def _chosen(
    text: str, places: Sequence[Place], rest: Iterator[list[Place]], line_hint: int | None, *, exact: bool
) -> Place:
    """The only place, or the one the hint means. `rest` are the steps after that which found `places`.

    A hint may contradict what was found: one that is near a more lenient place only makes it ambiguous, and one that
    is far from a place that is not `exact` makes it none.
    """
    if line_hint is None:
        found = places[0] if len(places) == 1 else None
    else:
        near = sorted(places, key=lambda one: _away(one, line_hint))[:2]
        if _away(near[0], line_hint) > REACH:
            others = [one for step in rest for one in step if _away(one, line_hint) <= REACH]
            places = sorted({one.start: one for one in (*others, *places)}.values(), key=lambda one: one.start)
        first, second = _away(near[0], line_hint), _away(near[-1], line_hint)
        if len(places) == 1:
            found = places[0]
            if not exact and first > REACH:
                raise far_from_hint(text, found, line_hint)
        else:
            found = near[0] if first <= REACH and first < second and CLEARLY * first <= second else None
    if found is None:
        raise _not_unique(text, places)
    if found.doubt is not None:
        raise doubtful(text, found, found.doubt)
    return found


def _away(found: Place, line_hint: int) -> int:
    return abs(found.line + 1 - line_hint)


def _not_unique(text: str, places: Sequence[Place]) -> ToolError:
    lines = split_lines(text)
    shown = [
        {"line": found.line + 1, "text": lines[found.line].strip()[:SHOWN_CHARACTERS]}
        for found in places[:SHOWN_PLACES]
    ]
    return ToolError(
        "not_unique",
        f"old_text is at {len(places)} places: lines {', '.join(str(one['line']) for one in shown)}"
        + (" and more" if len(places) > SHOWN_PLACES else ""),
        hint="give more of the lines around it, or line_hint with one of these lines",
        details={"places": shown, "count": len(places)},
    )
