"""Finds the lines that a model quotes in a text; pure.

The steps, from strict to lenient: whole lines exactly; whole lines, ignoring white space at their ends; whole lines
with another common indentation, or a part of a line exactly; then quotes that differ in one more way (adapting.py).
placing.py decides which step counts, building.py builds the new text of a place.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from tark_lsp.errors import ToolError
from tark_lsp.workspace.lines import count_lines
from tark_lsp.workspace.placing.adapting import (
    adapted_spots,
    can_be_found,
    line_spot,
    without_indentation,
    without_trailing_space,
)
from tark_lsp.workspace.placing.deadline import check_time, checked_each
from tark_lsp.workspace.placing.indentation import common_shift
from tark_lsp.workspace.placing.quotes import Quote, Spot, Way
from tark_lsp.workspace.placing.searching import Key, TextLines, exactly, find_block, find_part

WIDEST = 1_000
"""How many characters of indentation are considered."""
MOST_PARTS = 10_000
"""If a part of a line occurs more often, the quote is refused without counting further."""


def exact_spots(text: TextLines, quote: Quote) -> list[Spot]:
    """Every exact occurrence: as whole lines if `old` has a line ending, else anywhere."""
    whole = block_spots(text, quote, exactly, Way.EXACT) if count_lines(quote.old) else []
    return whole or part_spots(text, quote)


def line_spots(text: TextLines, quote: Quote) -> Iterator[list[Spot]]:
    """The places of the quoted lines as whole lines, for each step."""
    yield block_spots(text, quote, exactly, Way.EXACT)
    if can_be_found(text, quote):
        yield block_spots(text, quote, without_trailing_space, Way.TRAILING)
        yield shifted_spots(text, quote)
    yield from adapted_spots(text, quote)


def spots_by_step(text: TextLines, quote: Quote) -> Iterator[list[Spot]]:
    """The places of each step, found lazily: `EXACT`, `TRAILING`, then the lenient ones."""
    few = _few_exact_spots(text, quote)
    yield block_spots(text, quote, exactly, Way.EXACT) if few is None else few
    if can_be_found(text, quote):
        yield from _lenient_spots(text, quote)
    yield from adapted_spots(text, quote)


def _lenient_spots(text: TextLines, quote: Quote) -> Iterator[list[Spot]]:
    yield block_spots(text, quote, without_trailing_space, Way.TRAILING)
    # An indented line also contains its unindented text; a second such place makes the quote ambiguous.
    whole = shifted_spots(text, quote)
    taken = {line for spot in whole for line in range(spot.line, spot.line + spot.size)}
    parts = [part for part in part_spots(text, quote) if part.line not in taken]
    yield sorted(whole + parts, key=lambda spot: spot.start)
    yield _at_end_spots(text, quote)


def block_spots(text: TextLines, quote: Quote, key: Key, way: Way) -> list[Spot]:
    """The places of the quoted lines. Two lines are equal if `key` returns the same for them."""
    size = len(quote.wanted)
    return [line_spot(text, quote, at, size, way) for at in find_block(text, quote.wanted, key)]


def shifted_spots(text: TextLines, quote: Quote) -> list[Spot]:
    found: list[Spot] = []
    for spot in block_spots(text, quote, without_indentation, Way.INDENTED):
        check_time()
        if common_shift(quote.wanted, text.lines[spot.line : spot.line + spot.size]) is not None:
            found.append(spot)
    return found


def part_spots(text: TextLines, quote: Quote) -> list[Spot]:
    """Every exact occurrence, also inside a line and across lines; all kinds of line endings are equal.

    The ending of the last line is never replaced: that would join the rest of that line to the next one. Raises
    ToolError `not_unique` if there are too many.
    """
    plain, old = text.plain, TextLines(quote.old).plain
    body = old.removesuffix("\n")
    ended = old != body
    found: list[Spot] = []
    at = find_part(plain, body) if body else -1
    count = 0
    while at >= 0:
        checked_each(count := count + 1)
        end = at + len(body)
        # A line ends there. After the last line ending of the file, there is no blank line.
        if not ended or (plain[end] == "\n" if end < len(plain) else not body.endswith("\n")):
            line, start = text.from_plain(at)
            if _begins_in_indentation(text, quote, line, start):
                at = find_part(plain, body, at + 1)
                continue
            found.append(Spot(line, start, text.from_plain(end)[1], 0, Way.PART, quote))
        if len(found) > MOST_PARTS:
            raise ToolError(
                "not_unique",
                f"old_text is at more than {MOST_PARTS:,} places",
                hint="give whole lines, and more of those around it",
            )
        at = find_part(plain, body, at + 1)
    return found


def _begins_in_indentation(text: TextLines, quote: Quote, line: int, start: int) -> bool:
    """Whether these are whole lines that are quoted with less indentation. Another step finds them."""
    before = text.text[max(text.starts[line], start - WIDEST) : start]
    return quote.old[0] in " \t" and before != "" and not before.strip()


def _few_exact_spots(text: TextLines, quote: Quote) -> list[Spot] | None:
    """Like `block_spots` for exactly equal lines, without splitting the text; None if that is not possible."""
    source, old = text.text, quote.old
    if "\r" in source or "\r" in old:
        return None
    body = old.removesuffix("\n")
    found: list[Spot] = []
    at = find_part(source, body)
    line = counted = tried = 0
    while at >= 0:
        if (tried := tried + 1) > 100:
            return None
        end = at + len(body)
        begins = at == 0 or source[at - 1] == "\n"
        if begins and (source.startswith("\n", end) or (end == len(source) and source[-1] != "\n")):
            line += source.count("\n", counted, at)
            counted = at
            found.append(Spot(line, at, min(end + 1, len(source)), len(quote.wanted), Way.EXACT, quote))
        at = find_part(source, body, at + 1)
    return found


def _at_end_spots(text: TextLines, quote: Quote) -> list[Spot]:
    """The last lines of the file, if the quote has blank lines after them that the file does not have."""
    surplus = blank_at_end(quote.wanted) - blank_at_end(text.lines)
    if surplus <= 0:
        return []
    kept = len(quote.fresh) - min(surplus, blank_at_end(quote.fresh))
    trimmed = Quote("".join(quote.wanted[:-surplus]), "".join(quote.fresh[:kept]))
    if not trimmed.old.strip():
        return []
    exact = block_spots(text, trimmed, exactly, Way.EXACT)
    for found in chain([exact], _lenient_spots(text, trimmed)):
        last = [spot for spot in found if not text.text[spot.end :].strip("\r\n")]
        if last:
            return last
    return []


def blank_at_end(lines: Sequence[str]) -> int:
    """The number of blank lines after the last one with text."""
    filled = next((at for at in range(len(lines), 0, -1) if lines[at - 1].strip()), 0)
    return len(lines) - filled
