"""Divides a file into chunks along its definitions, or along blank lines and indentation. Pure."""

from collections.abc import Iterator, Sequence

from tark_lsp.index.model import Chunk, Definition, SymbolKind

MOST_LINES = 40
MOST_CHARACTERS = 2_000
"""Limits of one chunk. A longer line is a chunk of its own."""
SMALL_LINES = 10
"""A chunk with at most this many lines is joined with its neighbour."""
VALUES = frozenset({SymbolKind.CONSTANT, SymbolKind.VARIABLE, SymbolKind.FIELD})
"""Kinds of definitions that begin a chunk only if they are long."""


def chunks_of(lines: Sequence[str], definitions: Sequence[Definition]) -> tuple[Chunk, ...]:
    """Put every line that is not blank into exactly one chunk. The chunks are in the order of the lines.

    `lines` have no line endings; `definitions` are in the order of their starts. If a definition is too large, it is
    split at the definitions in it, then at blank lines. Its parts keep its name.
    """
    return tuple(_Chunking(lines, definitions).chunks())


class _Chunking:
    def __init__(self, lines: Sequence[str], definitions: Sequence[Definition]) -> None:
        self._lines = lines
        self._definitions = [definition for definition in definitions if _can_head_a_chunk(definition)]
        self._sizes = [0]
        for line in lines:
            self._sizes.append(self._sizes[-1] + len(line) + 1)

    def chunks(self) -> Iterator[Chunk]:
        held: Chunk | None = None
        for start, end, symbol in self._pieces():
            piece = self._trimmed(start, end, symbol)
            if piece is None:
                continue
            joined = self._joined(held, piece) if held else None
            if held and joined is None:
                yield held
            held = joined or piece
        if held:
            yield held

    def _pieces(self) -> Iterator[tuple[int, int, str]]:
        """Consecutive ranges of lines, from 1, within the limits, each with the definition that it belongs to."""
        # A stack of ranges to divide, the first on top: lines, symbol, the definitions in them (a range of indices).
        waiting = [(1, len(self._lines), "", 0, len(self._definitions))]
        while waiting:
            start, end, symbol, first, last = waiting.pop()
            if start > end:
                continue
            if self._fits(start, end) and (symbol or first == last):
                yield start, end, symbol
            elif first == last:
                for piece_start, piece_end in self._plain_pieces(start, end):
                    yield piece_start, piece_end, symbol
            else:
                waiting += reversed(self._parts(start, end, symbol, first, last))

    def _parts(self, start: int, end: int, symbol: str, first: int, last: int) -> list[tuple[int, int, str, int, int]]:
        """The outermost definitions in a range of lines, and the lines between them."""
        parts: list[tuple[int, int, str, int, int]] = []
        at = first
        while at < last:
            definition = self._definitions[at]
            inner = at + 1
            until = min(definition.end_line, end)
            while inner < last and self._definitions[inner].start_line <= until:
                inner += 1
            begin = self._with_comment(start, definition.start_line)
            if begin <= until:
                parts.append((start, begin - 1, symbol, 0, 0))
                parts.append((begin, until, definition.qualified_name, at + 1, inner))
                start = until + 1
            at = inner
        parts.append((start, end, symbol, 0, 0))
        return parts

    def _with_comment(self, start: int, line: int) -> int:
        """The first line of the block above a definition that has the same indentation and no blank line."""
        indent = self._indent(line)
        while line > start and self._lines[line - 2].strip() and self._indent(line - 1) == indent:
            line -= 1
        return max(line, start)

    def _plain_pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        while not self._fits(start, end):
            stop = self._cut(start, end)
            yield start, stop
            start = stop + 1
        yield start, end

    def _cut(self, start: int, end: int) -> int:
        """The last line of a piece: cut before the least indented line in its second half, best after a blank line."""
        stop = start
        while stop < end and self._fits(start, stop + 1):
            stop += 1
        candidates = range(max((start + stop) // 2, start) + 1, stop + 2)
        return min(candidates, key=self._cut_cost, default=stop + 1) - 1

    def _cut_cost(self, line: int) -> tuple[int, bool, int]:
        is_blank = line <= len(self._lines) and not self._lines[line - 1].strip()
        after_blank = line >= 2 and not self._lines[line - 2].strip()
        return 1_000_000 if is_blank else self._indent(line), not after_blank, -line

    def _indent(self, line: int) -> int:
        text = self._lines[line - 1]
        return len(text) - len(text.lstrip())

    def _fits(self, start: int, end: int) -> bool:
        if start == end:
            return True
        return end - start < MOST_LINES and self._sizes[end] - self._sizes[start - 1] <= MOST_CHARACTERS

    def _trimmed(self, start: int, end: int, symbol: str) -> Chunk | None:
        while start <= end and not self._lines[start - 1].strip():
            start += 1
        while end >= start and not self._lines[end - 1].strip():
            end -= 1
        return Chunk(start, end, symbol) if start <= end else None

    def _joined(self, one: Chunk, other: Chunk) -> Chunk | None:
        smaller = min(one.end_line - one.start_line, other.end_line - other.start_line) + 1
        if smaller > SMALL_LINES or not self._fits(one.start_line, other.end_line):
            return None
        return Chunk(one.start_line, other.end_line, one.symbol or other.symbol)


def _can_head_a_chunk(definition: Definition) -> bool:
    return definition.kind not in VALUES or definition.end_line - definition.start_line >= SMALL_LINES
