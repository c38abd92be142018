"""A row of the table of commands that only read: which flags and operands each can have. Pure."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tark_lsp.commands.program_words import DURATION

KINDS: dict[str, re.Pattern[str]] = {
    "path": re.compile(r".*", re.DOTALL),
    "text": re.compile(r".*", re.DOTALL),
    "number": re.compile(r"[+-]?\d{1,18}[a-zA-Z]{0,3}"),
    "word": re.compile(r"[A-Za-z0-9][A-Za-z0-9_,:.+-]*"),
    "print": re.compile(r"(?:(?:\d+|\$)(?:,\+?(?:\d+|\$))?p;?)+"),  # sed: print these lines
    "date": re.compile(r"\+.*"),
    "format": re.compile(r"(?!-)(?:[^%]|%[-+ #0]*\d*(?:\.\d+)?[sdiuxXoeEfFgGcbq%])*"),  # printf, without %n
    "revisions": re.compile(r"(?!.*%G)(?!.*%\().*"),  # git's format without signatures, which start a program
    "duration": DURATION,
    "filter": re.compile(r"(?!.*(?:import|include|modulemeta)).*", re.DOTALL),  # jq: reads no other file
    "bracket": re.compile(r"[()!,]"),
}
"""What an operand, or the value of a flag, can be. A `path` is also looked at as a path."""


class Refused(Exception):
    """The text is a clause for the user: which word is not on the list."""


@dataclass(frozen=True, slots=True)
class Row:
    """`name`: the words that the command begins with. All other words are on one of these lists, or it is refused.

    `flags`: without a value. `values`: `name:kind`, with a value; `name?:kind` if the value can be left out, and is
    attached (`--color=auto`). One letter is a short flag, more are a long one. `operands`: kinds in their order;
    `kind?` can be left out, `kind*` stands any number of times, and `command` is another command (`timeout 5 ls`).
    `without_first`: flags that take the place of the first operand (`grep -e PATTERN`). `digits`: `-5` is a flag.
    `words`: flags are whole words with one hyphen, as find has them. `raw`: there are no flags, only operands (`echo`).
    """

    name: str
    flags: str = ""
    values: str = ""
    operands: str = ""
    needs: str = ""
    without_first: str = ""
    digits: bool = False
    words: bool = False
    raw: bool = False
    yes: Sequence[str] = ()
    no: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.yes:
            raise ValueError(f"the row {self.name} has no example")


@dataclass(frozen=True)
class Program:
    """A row, ready to compare words with. `paths` of a command are the words that name files or folders."""

    row: Row
    name: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", tuple(self.row.name.split()))

    @cached_property
    def _flags(self) -> frozenset[str]:
        return frozenset(map(self._spelled, self.row.flags.split()))

    @cached_property
    def _values(self) -> dict[str, tuple[str, bool]]:
        """The kind of the value of each flag, and whether it can be left out."""
        found = {}
        for entry in self.row.values.split():
            name, _, kind = entry.partition(":")
            found[self._spelled(name.removesuffix("?"))] = (kind, name.endswith("?"))
        return found

    def _spelled(self, name: str) -> str:
        return f"-{name}" if self.row.words or len(name) == 1 else f"--{name}"

    def paths(self, words: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
        """`words` follow the name. Returns the paths, and the words of a command that it starts. Raises Refused."""
        operands, paths, seen = [], [], set[str]()
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if self.row.raw or not word.startswith("-") or word == "-":
                operands.append(word)
                if self.row.operands.endswith("command") and len(operands) == self.row.operands.count(" ") + 1:
                    operands.extend(words[at:])
                    break
                continue
            if word == "--":
                operands.extend(words[at:])
                break
            if self.row.digits and re.fullmatch(r"-\d{1,9}", word):
                continue
            for flag, value in self._read(word):
                seen.add(flag)
                if flag in self._flags and value is None:
                    continue
                kind, optional = self._values.get(flag, ("", False))
                if not kind:
                    raise Refused(f"{word} of {self.row.name} is not on the list of what only reads")
                if value is None and not optional:
                    if at == len(words):
                        raise Refused(f"{word} of {self.row.name} has no value")
                    value, at = words[at], at + 1
                if value is not None:
                    paths += self._checked(value, kind)
        missing = {self._spelled(name) for name in self.row.needs.split()} - seen
        if missing:
            raise Refused(f"{self.row.name} can start other programs without {' '.join(sorted(missing))}")
        more, command = self._operands(operands, seen)
        return [*paths, *more], command

    def _read(self, word: str) -> Iterator[tuple[str, str | None]]:
        """The flags of one word, each with its value if that is attached."""
        if self.row.words:
            yield word, None
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            yield name, value if equals else None
        else:
            for place, letter in enumerate(word[1:], 1):
                flag = f"-{letter}"
                if flag in self._values and word[place + 1 :]:
                    yield flag, word[place + 1 :]
                    return
                yield flag, None

    def _operands(self, operands: Sequence[str], seen: set[str]) -> tuple[list[str], tuple[str, ...]]:
        kinds = self.row.operands.split()
        if seen & {self._spelled(name) for name in self.row.without_first.split()}:
            kinds = kinds[1:]
        paths: list[str] = []
        for place, word in enumerate(operands):
            kind = kinds[min(place, len(kinds) - 1)] if kinds else ""
            if kind == "command":
                return paths, tuple(operands[place:])
            if not kind or (place >= len(kinds) and not kind.endswith("*")):
                raise Refused(f"{word} is one word too many for {self.row.name}")
            paths += self._checked(word, kind.rstrip("?*"))
        wanted = [kind for kind in kinds[len(operands) :] if kind[-1] not in "?*"]
        if wanted:
            raise Refused(f"{self.row.name} has no {wanted[0]}")
        return paths, ()

    def _checked(self, word: str, kind: str) -> list[str]:
        """The word, if it is a path."""
        if not KINDS[kind].fullmatch(word):
            raise Refused(f"{word} of {self.row.name} is not on the list of what only reads")
        return [word] if kind == "path" else []


def split_example(text: str) -> tuple[str, ...]:
    return tuple(shlex.split(text))
