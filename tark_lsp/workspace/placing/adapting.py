"""Finds quotes that differ from the text in one more way: line numbers, kind or width of indentation, characters that
look alike, the number of blank lines; pure. adapted.py computes the new lines."""

import unicodedata
from collections.abc import Iterator, Sequence
from heapq import nlargest

from tark_lsp.workspace.placing.adapted import fit_of
from tark_lsp.workspace.placing.deadline import check_time
from tark_lsp.workspace.placing.left_out import NUMBERED, numbers_of
from tark_lsp.workspace.placing.quotes import Quote, Spot, Way
from tark_lsp.workspace.placing.searching import Key, TextLines, find_block, find_part

LOOK_ALIKE = str.maketrans("‘’‚‛“”„‟′″‐‑‒–—―−", "''''\"\"\"\"'\"-------")
"""Characters that look like those on a keyboard. NFKC converts the no-break space and full-width forms."""

TRIED = 8
"""How many of the quoted lines `can_be_found` looks for: the longest ones."""

without_indentation: Key = str.strip
without_trailing_space: Key = str.rstrip


def adapted_spots(text: TextLines, quote: Quote) -> Iterator[list[Spot]]:
    """The places for each way, as whole lines."""
    for step in (_numbered_spots, _width_spots, _look_alike_spots, _blank_line_spots):
        check_time()
        yield step(text, quote)


def can_be_found(text: TextLines, quote: Quote) -> bool:
    """A cheap test whether steps that ignore white space around a line can find anything."""
    return all(find_part(text.text, part) >= 0 for part in nlargest(TRIED, map(str.strip, quote.wanted), key=len))


def plain(line: str) -> str:
    """The line without white space at its end, in NFKC (skipped for ASCII, because it is slow and changes nothing)."""
    return (line if line.isascii() else unicodedata.normalize("NFKC", line.translate(LOOK_ALIKE))).rstrip()


def line_spot(text: TextLines, quote: Quote, at: int, size: int, way: Way) -> Spot:
    return Spot(at, text.starts[at], text.starts[at + size], size, way, quote)


def _numbered_spots(text: TextLines, quote: Quote) -> list[Spot]:
    """Places of the quoted lines without the numbers of a listing. Of several places, the one with these numbers."""
    found = numbers_of(quote.wanted)
    if found is None:
        return []
    number = found[0]
    for spaced in (True, False):
        bare, fresh = _without_numbers(quote.wanted, spaced=spaced), quote.fresh
        if any(NUMBERED.match(line) for line in fresh):
            fresh = _without_numbers(fresh, spaced=spaced) if numbers_of(fresh) else []
        if not any(line.strip() for line in bare) or (quote.new and not fresh):
            continue
        plain_quote = Quote("".join(bare), "".join(fresh))
        lines = find_block(text, bare, without_trailing_space)
        if len(lines) > 1 or len(bare) == 1:
            lines = [at for at in lines if at + 1 == number]
        if lines:
            return [line_spot(text, plain_quote, at, len(bare), Way.TRAILING) for at in lines]
    return []


def _without_numbers(lines: Sequence[str], *, spaced: bool) -> list[str]:
    """`spaced`: one space after the number separates it from the line."""
    out = []
    for line in lines:
        match = NUMBERED.match(line)
        bare = line[match.end() :] if match else line
        out.append(bare.removeprefix(" ") if spaced else bare)
    return out


def _width_spots(text: TextLines, quote: Quote) -> list[Spot]:
    if not can_be_found(text, quote):
        return []
    size, found = len(quote.wanted), []
    for at in find_block(text, quote.wanted, without_indentation):
        check_time()
        found.append(line_spot(text, quote, at, size, Way.WIDTH))
    fits = any(fit_of(quote.wanted, text.lines[spot.line : spot.line + size]) for spot in found[:100])
    return found if fits else []


def _look_alike_spots(text: TextLines, quote: Quote) -> list[Spot]:
    if text.text.isascii() and quote.old.isascii():
        return []
    size = len(quote.wanted)
    return [line_spot(text, quote, at, size, Way.LOOK_ALIKE) for at in find_block(text, quote.wanted, plain)]


def _blank_line_spots(text: TextLines, quote: Quote) -> list[Spot]:
    """Places of the quoted lines with more or fewer blank lines between, before or after them."""
    filled = [line for line in quote.wanted if line.strip()]
    if not filled or not can_be_found(text, quote):
        return []
    numbers = [at for at, line in enumerate(text.lines) if line.strip()]
    if len(numbers) == len(text.lines) and len(filled) == len(quote.wanted):
        return []
    only = TextLines("".join(text.lines[at].rstrip() + "\n" for at in numbers))
    before = next(at for at, line in enumerate(quote.wanted) if line.strip())
    after = next(at for at, line in enumerate(reversed(quote.wanted)) if line.strip())
    found = []
    for at in find_block(only, filled, without_trailing_space):
        check_time()
        start, end = numbers[at], numbers[at + len(filled) - 1] + 1
        start -= _blank_run(reversed(text.lines[max(0, start - before) : start]))
        end += _blank_run(text.lines[end : end + after])
        found.append(line_spot(text, quote, start, end - start, Way.BLANK_LINES))
    return found


def _blank_run(lines: Sequence[str] | Iterator[str]) -> int:
    count = 0
    for line in lines:
        if line.strip():
            break
        count += 1
    return count
