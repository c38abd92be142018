"""Finds the place of each chunk of a patch in its file, or raises an error with the reason. Pure.

The context and removed lines of a chunk are placed like whole lines in `edit_file`, never more loosely. If they occur
in several places, the text after `@@` and the order of the chunks can decide; otherwise the chunk is refused.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tark_lsp.errors import ToolError
from tark_lsp.tools.patch_format import Chunk
from tark_lsp.tools.patch_scopes import Scopes, width_of
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.placing.building import Place, stands_already
from tark_lsp.workspace.placing.deadline import check_time, limited_time
from tark_lsp.workspace.placing.left_out import require_complete, require_no_fence, require_no_numbers
from tark_lsp.workspace.placing.placing import SHOWN_CHARACTERS, find_line_spots, not_found, place_of
from tark_lsp.workspace.placing.quotes import Quote, Spot, Way
from tark_lsp.workspace.placing.searching import TextLines, exactly

CALLED = "the text of the lines with a space and `-`"
"""The name of a chunk's old text in errors."""
SHOWN_PLACES = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """The chunk could change the lines `start` (from 0) to `end` (exclusive): those of `spot` without the context."""

    start: int
    end: int
    spot: Spot


@dataclass(frozen=True, slots=True)
class Core:
    """The lines `start` (from 0) to `end` (exclusive) of the file become `new`, without the context around them."""

    start: int
    end: int
    new: tuple[str, ...]


def patched(source: str, chunks: Sequence[Chunk], *, prose: bool = False) -> str:
    """The whole text with all chunks. `prose`: as for `place_edit`. Raises ToolError."""
    with limited_time():
        text = TextLines(source)
        scopes = Scopes(text)
        found: dict[Chunk, list[Candidate]] = {}
        candidates = []
        for chunk in chunks:
            check_time()
            same = replace(chunk, line=0)
            try:
                if not prose:
                    _require_complete(source, chunk)
                if same not in found:
                    found[same] = [_candidate(spot, chunk) for spot in _spots(text, scopes, chunk)]
            except ToolError as error:
                raise _of(chunk, error) from error
            candidates.append(found[same])
        out: list[str] = []
        at = 0
        for chunk, candidate in _in_order(text.lines, chunks, candidates):
            check_time()
            try:
                if not prose:
                    require_no_numbers(_joined(chunk.old), _joined(chunk.new), candidate.spot.line + 1)
                core = _core(text, candidate, chunk)
                if core.start < at:
                    hint = "give each line in only one of the chunks"
                    raise ToolError("invalid_arguments", "they overlap the chunk before them", hint=hint)
            except ToolError as error:
                raise _of(chunk, error) from error
            out += [*text.lines[at : core.start], *core.new]
            at = core.end
        return "".join([*out, *text.lines[at:]])


def _require_complete(source: str, chunk: Chunk) -> None:
    old, new = _joined(chunk.old), _joined(chunk.new)
    require_complete(source, old, new)
    require_no_fence(chunk.new[chunk.before : len(chunk.new) - chunk.after])


def _candidate(spot: Spot, chunk: Chunk) -> Candidate:
    if not chunk.old:
        return Candidate(spot.line + spot.size, spot.line + spot.size, spot)
    if spot.way is Way.BLANK_LINES:  # the number of context lines differs from the patch
        return Candidate(spot.line, spot.line + spot.size, spot)
    return Candidate(spot.line + chunk.before, spot.line + spot.size - chunk.after, spot)


def _of(chunk: Chunk, error: ToolError) -> ToolError:
    return ToolError(
        error.code,
        f"the lines at line {chunk.line} of the patch: {error.message}",
        hint=error.hint,
        details={**error.details, "patch_line": chunk.line},
    )


def _spots(text: TextLines, scopes: Scopes, chunk: Chunk) -> list[Spot]:
    """The possible places of one chunk, in order; at least one. Raises ToolError."""
    lines = text.lines
    old, new = _joined(chunk.old), _joined(chunk.new)
    if not chunk.old:
        if not lines:
            return [Spot(0, 0, 0, 0, Way.EXACT, Quote("", new))]
        if not chunk.at_end:
            raise ToolError(
                "invalid_arguments",
                "they are only added, and nothing says where",
                hint="repeat a line that comes before or after them, with a space in front; to add them at the end of "
                "the file, put *** End of File after them",
            )
        last = exactly(lines[-1])
        return [
            Spot(
                len(lines) - 1,
                text.starts[-2],
                text.starts[-1],
                1,
                Way.EXACT,
                Quote(_joined([last]), _joined([last, *chunk.new])),
            )
        ]
    if not old.strip():
        raise ToolError(
            "invalid_arguments", "they are only blank lines", hint="repeat a neighbouring line, with a space in front"
        )
    found = [
        spot
        for spot in find_line_spots(text, old, new, CALLED)
        if not _sign_lost(chunk.old, lines[spot.line : spot.line + 9])
    ]
    if not found:
        raise not_found(text, old, CALLED)
    within = _within_scopes(text, scopes, chunk, found)
    if not chunk.at_end:
        return within
    at_end = [spot for spot in within if spot.line + spot.size == len(lines)]
    if not at_end:
        raise ToolError(
            "not_found",
            f"they are at {_numbered(spot.line for spot in within)}, which is not the end of the file",
            hint="leave *** End of File out, or read the end of the file again",
        )
    return at_end


def _within_scopes(text: TextLines, scopes: Scopes, chunk: Chunk, found: Sequence[Spot]) -> list[Spot]:
    """The places where the lines after `@@` allow the chunk. Raises ToolError `not_found` if there is none."""
    allowed = scopes.of_headers(chunk.headers)
    certain = len(found) == 1 and found[0].way in (Way.EXACT, Way.TRAILING)
    if allowed is None and certain:
        return list(found)
    if allowed is None:
        raise not_found(text, chunk.headers[-1], f"@@ {chunk.headers[-1]}")
    within = [spot for spot in found if any(start <= spot.line < end for start, end in allowed)]
    if not within and certain:  # the lines are nowhere else, so what is after @@ must be wrong
        return list(found)
    if not within:
        raise ToolError(
            "not_found",
            f"they are at {_numbered(spot.line for spot in found)}, which is not where @@ {chunk.headers[-1]} is",
            hint="correct the @@ line, or leave it out if the lines occur only once",
        )
    return within


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _sign_lost(old: Iterable[str], here: Iterable[str]) -> bool:
    """Whether the indentation differs by one column. Then the space that marks context is missing."""
    widths = ((width_of(wanted), width_of(line)) for wanted, line in zip(old, here, strict=False) if wanted.strip())
    wanted, stands = next(widths, (0, 0))
    return abs(wanted - stands) == 1


def _core(text: TextLines, candidate: Candidate, chunk: Chunk) -> Core:
    """The changed lines without their context. The last line of the file can change by getting a line ending."""
    lines, spot = text.lines, candidate.spot
    if not lines:
        return Core(0, 0, tuple(spot.quote.fresh))
    place: Place = place_of(text, spot, CALLED)
    if not (chunk.before and chunk.after) and chunk.old and stands_already(text, place, spot):
        return Core(candidate.start, candidate.start, ())  # with context on both sides, it cannot be a repetition
    start, end = spot.line, spot.line + spot.size
    new = split_lines(place.new)
    before, after = (chunk.before, chunk.after) if chunk.old else (spot.size, 0)
    first, last = 0, len(new)
    while first < min(before, last) and start < end and new[first] == lines[start]:
        start, first = start + 1, first + 1
    while len(new) - last < after and last > first and end > start and new[last - 1] == lines[end - 1]:
        end, last = end - 1, last - 1
    return Core(start, end, tuple(new[first:last]))


def _in_order(
    lines: Sequence[str], chunks: Sequence[Chunk], candidates: Sequence[Sequence[Candidate]]
) -> list[tuple[Chunk, Candidate]]:
    """One candidate for each chunk, in order. Raises ToolError if the earliest and the latest choice differ.

    If each chunk has only one possible place, the chunks are sorted.
    """
    if all(len(some) == 1 for some in candidates):
        pairs = sorted(zip(chunks, (some[0] for some in candidates), strict=True), key=lambda pair: pair[1].start)
        chunks, candidates = [chunk for chunk, _ in pairs], [[one] for _, one in pairs]
    earliest: list[Candidate] = []
    for chunk, some in zip(chunks, candidates, strict=True):
        after = earliest[-1].end if earliest else 0
        first = bisect_left(some, after, key=lambda one: one.start)
        if first == len(some):
            message = f"they are at {_numbered(one.start for one in some)}, before the end of the previous chunk"
            hint = "give the chunks in the order of the file, and each line in only one of them"
            raise _of(chunk, ToolError("invalid_arguments", message, hint=hint))
        earliest.append(some[first])
    before = len(lines)
    for chunk, some, one in reversed(list(zip(chunks, candidates, earliest, strict=True))):
        last = some[bisect_right(some, before, key=lambda one: one.end) - 1]
        if last != one:
            among = [other for other in some if one.start <= other.start <= last.start]
            shown = [{"line": other.start + 1, "text": _shown(lines, other.start)} for other in among[:SHOWN_PLACES]]
            message = f"they occur at {len(among)} places: {_numbered(other.start for other in among)}"
            hint = "give more of the lines around them, or put @@ with the enclosing function or class before them"
            raise _of(chunk, ToolError("not_unique", message, hint=hint, details={"places": shown}))
        before = last.start
    return list(zip(chunks, earliest, strict=True))


def _numbered(lines: Iterable[int]) -> str:
    numbers = [str(at + 1) for at in lines]
    listed = ", ".join(numbers[:SHOWN_PLACES]) + (" and more" if len(numbers) > SHOWN_PLACES else "")
    return f"line {listed}" if len(numbers) == 1 else f"lines {listed}"


def _shown(lines: Sequence[str], at: int) -> str:
    return exactly(lines[at]).strip()[:SHOWN_CHARACTERS] if at < len(lines) else ""
