"""Patterns of commands that a user can allow: exactly these words, or a program with any arguments. Pure."""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tark_lsp.commands.program_words import ANYTHING, CHANGED_BY, COUNTED, DURATION, INTERPRETERS, RUNNERS

PLAIN = re.compile(r"(?:\./)?[A-Za-z0-9_@][A-Za-z0-9_@:./+-]*")
"""A word that can name what is done: a subcommand, a target, a script. No flag, no assignment."""

PROGRAM = re.compile(r"(?!-)(?:[A-Za-z0-9_@.+-]*/)*[A-Za-z0-9_@+][A-Za-z0-9_@.+-]*")
VERSION = re.compile(r"(python|pip|pypy|node|ruby|perl|php|lua)[\d.]*")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The words that a simple command consists of, or begins with if it can have `any_arguments`."""

    words: Words
    any_arguments: bool = False

    def __str__(self) -> str:
        return f"{shlex.join(self.words)}{' ...' if self.any_arguments else ''}"

    def covers(self, part: Sequence[str]) -> bool:
        """`part`: the exact words of one simple command."""
        length = len(self.words)
        if not self.words or tuple(part[:length]) != self.words:
            return False
        further = part[length:]
        return not further if not self.any_arguments else not any(_changes(self.words, word) for word in further)


def covers_all(patterns: Iterable[Pattern], parts: Sequence[Sequence[str]]) -> bool:
    """Whether each simple command is covered by one of the patterns. No parts: the text was not understood."""
    known = tuple(patterns)
    return bool(parts) and all(any(pattern.covers(part) for pattern in known) for part in parts)


def describe_patterns(patterns: Iterable[Pattern]) -> str:
    """For the user: `pytest ...` with any arguments and `cd src`."""
    return " and ".join(f"`{one}`{' with any arguments' if one.any_arguments else ''}" for one in patterns)


def widths(parts: Sequence[Words]) -> tuple[tuple[Pattern, ...], ...]:
    """What can be allowed for a command line, from narrow to wide: exactly its simple commands; each of them with any
    arguments. A simple command whose name is not certain is in both as it is. Each pattern is there once."""
    exact = _once(Pattern(part) for part in parts)
    wide = _once(widest(part) for part in parts)
    return (exact,) if exact == wide else (exact, wide)


def widest(part: Words) -> Pattern:
    """The program and what names what it does, with any arguments; else exactly these words."""
    length = _name_length(part)
    if length is None or any(_changes(part[:length], word) for word in part[length:]):
        return Pattern(part)
    return Pattern(part[:length], any_arguments=True)


def _name_length(part: Words) -> int | None:
    """How many words name what is done. None: any arguments would allow more than the words say."""
    if not part or not PROGRAM.fullmatch(part[0]):
        return None
    program = _program(part[0])
    if any(" ".join((program, *part[1:count])) in ANYTHING for count in (1, 2, 3)):
        return None
    for runner in RUNNERS:
        if program == runner[0] and len(part) > len(runner) and _begins(part[1:], runner[1:]):
            rest = _name_length(part[len(runner) :])
            return None if rest is None else len(runner) + rest
    if any(runner[0] == program and len(runner) == 1 for runner in RUNNERS):
        return None
    counts = (count for count in (3, 2) if " ".join((program, *part[1 : count - 1])) in COUNTED[count])
    length = next(counts, 2 if program in INTERPRETERS else 1)
    return length if len(part) >= length and all(PLAIN.fullmatch(word) for word in part[1:length]) else None


def _begins(words: Words, start: Words) -> bool:
    return all(
        DURATION.fullmatch(word) if expected == "DURATION" else word == expected
        for word, expected in zip(words, start, strict=False)
    )


def _program(word: str) -> str:
    name = word.rpartition("/")[2].casefold().removesuffix(".exe")
    versioned = VERSION.fullmatch(name)
    return versioned[1] if versioned else name


def _changes(name: Sequence[str], word: str) -> bool:
    """Whether the word is one of the flags in `CHANGED_BY`, also in a short form, as git understands it. `name`: what
    is done; its program can follow others (`timeout 5 git log`)."""
    flag = word.partition("=")[0]
    known = [one for program in name for one in CHANGED_BY.get(_program(program), ())]
    return len(flag) > 2 and flag.startswith("--") and any(one.startswith(flag) for one in known)


def _once(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    return tuple(dict.fromkeys(patterns))
