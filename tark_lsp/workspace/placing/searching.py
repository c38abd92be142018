"""A text with its lines, and the linear search for blocks of lines and for parts of lines in it; pure."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain

from tark_lsp.workspace.lines import PIECE, ending_of, split_lines
from tark_lsp.workspace.placing.deadline import check_time, checked_each

Key = Callable[[str], str]
"""Two lines count as equal if the key function returns the same text for them."""

FEW = 200_000
"""How many lines are compared one by one. Above this, the search is one pass that never goes back."""


def exactly(line: str) -> str:
    return line.rstrip("\r\n")


class TextLines:
    """A text, its lines and what is derived from them. Everything is computed when first needed, and only once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._keys: dict[Key, list[str]] = {}
        self._places: dict[Key, Mapping[str, list[int]]] = {}

    @cached_property
    def lines(self) -> list[str]:
        return split_lines(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line, and of the end of the text."""
        return list(accumulate(map(len, self.lines), initial=0))

    @cached_property
    def plain(self) -> str:
        """The text with `\\n` for every line ending."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in self.text else self.text

    @cached_property
    def plain_starts(self) -> list[int]:
        if "\r" not in self.text:
            return self.starts
        return list(accumulate((len(exactly(line)) + bool(ending_of(line)) for line in self.lines), initial=0))

    def keys(self, key: Key) -> list[str]:
        if key not in self._keys:
            self._keys[key] = [key(line) for line in self.lines]
        return self._keys[key]

    def places(self, key: Key) -> Mapping[str, list[int]]:
        """The numbers of the lines, from 0, by their key."""
        if key not in self._places:
            found: defaultdict[str, list[int]] = defaultdict(list)
            for at, line_key in enumerate(self.keys(key)):
                found[line_key].append(at)
            self._places[key] = found
        return self._places[key]

    def ending_near(self, line: int, end: int) -> str:
        """The line ending that new lines get in place of the lines `line` to `end`."""
        lines = self.lines
        around = chain(lines[max(0, line - 1) : line], lines[line : end + 1], lines)
        return next(filter(None, map(ending_of, around)), "\n")

    def from_plain(self, offset: int) -> tuple[int, int]:
        """The line, and the offset in the text, of an offset in `plain`."""
        line = max(0, bisect_right(self.plain_starts, offset) - 1)
        return line, self.starts[line] + offset - self.plain_starts[line]


def find_part(text: str, part: str, start: int = 0) -> int:
    """Like `text.find(part, start)`, but in pieces, because one long search in C would stop all threads."""
    last = len(text) - len(part)
    while start <= last:
        check_time()
        at = text.find(part, start, start + PIECE + len(part))
        if at >= 0:
            return at
        start += PIECE + 1
    return -1


def find_block(text: TextLines, wanted: Sequence[str], key: Key) -> list[int]:
    """The numbers of the lines, from 0, at which the lines `wanted` begin. Takes linear time for any text."""
    keys = [key(line) for line in wanted]
    places = text.places(key)
    rarest = min(range(len(keys)), key=lambda k: len(places.get(keys[k], ())))
    some = places.get(keys[rarest], [])
    lines, size = text.keys(key), len(keys)
    if len(some) * size > FEW:
        return list(_in_one_pass(lines, keys))
    return [
        at - rarest
        for count, at in enumerate(some)
        if checked_each(count) and at >= rarest and lines[at - rarest : at - rarest + size] == keys
    ]


def _in_one_pass(lines: Sequence[str], keys: Sequence[str]) -> Iterator[int]:
    """The search of Knuth, Morris and Pratt."""
    borders = [0] * len(keys)
    size = 0
    for at in range(1, len(keys)):
        while size and keys[at] != keys[size]:
            size = borders[size - 1]
        size += keys[at] == keys[size]
        borders[at] = size
    size = 0
    for at, line in enumerate(lines):
        checked_each(at)
        while size and (size == len(keys) or line != keys[size]):
            size = borders[size - 1]
        size += line == keys[size]
        if size == len(keys):
            yield at - size + 1
