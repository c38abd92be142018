"""The parts of cases: a block of a real text, the model's change of it, what the user types elsewhere."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

Lines = list[str]
LONGEST_BLOCK = 8


@dataclass(frozen=True, slots=True)
class Spot:
    """A text in three parts, lines without their endings: `block` begins at line `len(before)`, from 0."""

    before: Lines
    block: Lines
    after: Lines

    @property
    def lines(self) -> Lines:
        return [*self.before, *self.block, *self.after]

    @property
    def text(self) -> str:
        return joined(self.lines)

    @property
    def line(self) -> int:
        """The line at which the block begins, from 1."""
        return len(self.before) + 1

    def put(self, block: Sequence[str]) -> str:
        return joined([*self.before, *block, *self.after])


def joined(lines: Sequence[str], ending: str = "\n") -> str:
    return ending.join([*lines, ""])


def sent(random: Random, old: Sequence[str], new: Sequence[str]) -> tuple[str, str]:
    """As a model gives lines: the last ones ended in both texts, or in neither. An empty last line has to be ended."""
    end = "\n" if random.random() < 0.5 and old[-1] and new[-1] else ""
    return joined(old).removesuffix(end), joined(new).removesuffix(end)


def places(lines: Sequence[str], block: Sequence[str], key: Callable[[str], str] = str) -> int:
    """How often the block occurs in the lines."""
    sought = [key(line) for line in block]
    keys = [key(line) for line in lines]
    return sum(keys[at : at + len(sought)] == sought for at, line in enumerate(keys) if line == sought[0])


def some_spot(random: Random, text: str, least: int = 1, most: int = LONGEST_BLOCK) -> Spot | None:
    """A block that stands there once, even if it were re-indented, and neither begins nor ends with an empty line."""
    lines = text.split("\n")[:-1]
    size = random.randint(least, most)
    start = random.randrange(max(1, len(lines) - size))
    spot = Spot(lines[:start], lines[start : start + size], lines[start + size :])
    if len(spot.block) < least or not spot.block[0].strip() or not spot.block[-1].strip():
        return None
    return spot if places(lines, spot.block, str.strip) == 1 else None


def changed(random: Random, block: Lines) -> Lines:
    """The model's change: another word, a line more, a line less, or new lines. Never the same block."""
    ways = [_word, _line_more, _anew] + [_line_less] * (len(block) > 1)
    return random.choice(ways)(random, block)


def fresh(random: Random) -> str:
    """A name that no file contains."""
    return f"fresh_{random.randrange(10**9)}"


def indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def change_line(random: Random, block: Lines, at: int) -> Lines:
    """The same block with another word in line `at`."""
    words = list(re.finditer(r"[A-Za-z_]\w*", block[at]))
    if not words:
        return [*block[:at], f"{block[at]} {fresh(random)}", *block[at + 1 :]]
    word = random.choice(words)
    return [*block[:at], block[at][: word.start()] + fresh(random) + block[at][word.end() :], *block[at + 1 :]]


def _word(random: Random, block: Lines) -> Lines:
    return change_line(random, block, random.choice([at for at, line in enumerate(block) if line.strip()]))


def _line_more(random: Random, block: Lines) -> Lines:
    at = random.choice([at for at, line in enumerate(block) if line.strip()])
    return [*block[: at + 1], f"{indentation(block[at])}{fresh(random)}()", *block[at + 1 :]]


def _line_less(random: Random, block: Lines) -> Lines:
    at = random.randrange(1, len(block))  # The first line stays: it shows the indentation of the block.
    return block[:at] + block[at + 1 :]


def _anew(random: Random, block: Lines) -> Lines:
    return [f"{indentation(line)}{fresh(random)} = {random.randrange(99)}" if line.strip() else line for line in block]


def typed(random: Random, lines: Lines, times: int | None = None) -> Lines:
    """The lines after the user inserted, removed and changed some of them."""
    lines = list(lines)
    for _ in range(random.randint(1, 4) if times is None else times):
        at = random.randrange(len(lines) + 1)
        way = random.random()
        if way < 0.5 or not lines:
            more = [f"{fresh(random)} = {random.randrange(99)}" for _ in range(random.randint(1, 6))]
            if random.random() < 0.3 and lines:
                more = ["", *random.sample(lines, min(3, len(lines)))]
            lines[at:at] = more
        elif way < 0.75:
            del lines[at : at + random.randint(1, 5)]
        elif at < len(lines):
            lines = change_line(random, lines, at)
    return lines


def typed_around(random: Random, spot: Spot, margin: int = 4) -> Spot:
    """The user typed above and below, but not within `margin` lines of the block."""
    before, after = spot.before, spot.after
    cut = max(0, len(before) - margin)
    above = typed(random, before[:cut]) if cut else []
    below = typed(random, after[margin:]) if len(after) > margin else after[margin:]
    return Spot([*above, *before[cut:]], spot.block, [*after[:margin], *below])
