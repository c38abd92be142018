"""Whether a command line only reads, inside the workspace, by the table of programs. Pure."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from tark_lsp.commands.everyday_programs import EVERYDAY
from tark_lsp.commands.git_programs import GIT, GLOBAL
from tark_lsp.commands.program import Program, Refused, split_example
from tark_lsp.commands.shell_text import ReadCommand

ROWS = (*EVERYDAY, *GIT)
STANDARD_INPUT = "-"
MOST_PLACES = 8
"""Where a command can start. Each `cd` doubles them."""

STARTS_OUTSIDE = "it starts outside the workspace"
SHELL_WORDS = frozenset(
    "pushd popd eval exec source . builtin command trap alias set shopt enable hash".split()  # noqa: SIM905  # a list reads best as words
)
"""Words with which the shell can change what the next words mean, or where they start."""


class TableWrong(Exception):
    """A row contradicts one of its examples, so nothing is allowed by the table."""


@cache
def programs() -> dict[str, tuple[Program, ...]]:
    """By the first word; those with the longest names first. Raises TableWrong: all examples are checked."""
    found: dict[str, list[Program]] = {}
    for row in ROWS:
        found.setdefault(row.name.split()[0], []).append(Program(row))
    table = {name: tuple(sorted(rows, key=lambda row: -len(row.name))) for name, rows in found.items()}
    for row in ROWS:
        for text, expected in (*((text, True) for text in row.yes), *((text, False) for text in row.no)):
            try:
                _paths(split_example(text), table)
                reads = True
            except Refused:
                reads = False
            if reads is not expected:
                raise TableWrong(f"{row.name}: {text!r} {'reads only' if reads else 'does not read only'}")
    return table


def why_not_reading(command: ReadCommand, cwd: Path, folders: Iterable[Path], is_secret: Callable[[Path], bool]) -> str:
    """Why the command line does not only read files in these folders; empty if it does. `is_secret`: has keys.

    By the words alone: links are not followed, and nothing is looked up on the disk. `is_secret` gets each path with
    the `..` that are in it, because after a link they lead to another place. Never raises.
    """
    if command.why:
        return command.why
    inside = tuple(map(str, folders))
    for reason in why_parts_do_not_read(command, cwd, inside, is_secret):
        if reason:
            return reason
    places = [str(cwd)]
    for part in command.parts:
        places = _places_after(part, places)
    return "" if all(_is_inside(".", place, inside) for place in places) else STARTS_OUTSIDE


def why_parts_do_not_read(
    command: ReadCommand, cwd: Path, folders: Iterable[str | Path], is_secret: Callable[[Path], bool]
) -> Iterator[str]:
    """The same for each of its parts. What follows a word of the shell that only it understands is not certain."""
    inside, places = tuple(map(str, folders)), [str(cwd)]
    reason = ""
    for index, part in enumerate(command.parts):
        if reason and command.parts[index - 1][0] in SHELL_WORDS:
            yield from [f"it follows {command.parts[index - 1][0]}"] * (len(command.parts) - index)
            return
        if len(places) > MOST_PLACES:
            yield from ["it changes the folder too often"] * (len(command.parts) - index)
            return
        reason = _why_part(part, places, inside, is_secret)
        yield reason
        places = _places_after(part, places)


def _why_part(
    part: Sequence[str], places: Sequence[str], inside: Sequence[str], is_secret: Callable[[Path], bool]
) -> str:
    try:
        words = _paths(part, programs())
    except (Refused, TableWrong) as error:
        return str(error)
    for word in words:
        for place in places:
            if not _is_inside(word, place, inside):
                return f"{word} is outside the workspace"
            # `HEAD:.env` is a file in git's history
            if any(is_secret(Path(place, name)) for name in _names(word)):
                return f"{word} can hold keys"
    return "" if all(_is_inside(".", place, inside) for place in places) else STARTS_OUTSIDE


def _places_after(part: Sequence[str], places: Sequence[str]) -> list[str]:
    """Each folder where the next command can start: a `cd` can fail."""
    moved = (str(_normal(place, name)) for place in places for name in part[1:]) if part[0] == "cd" else ()
    return list(dict.fromkeys((*places, *moved)))


def paths_of(command: ReadCommand) -> tuple[str, ...]:
    """The words that name files or folders, of a command that only reads. Raises Refused."""
    return tuple(word for part in command.parts for word in _paths(part, programs()))


def _paths(words: Sequence[str], table: dict[str, tuple[Program, ...]]) -> list[str]:
    words = _plain(words)
    for program in table.get(words[0], ()) if words else ():
        if tuple(words[: len(program.name)]) == program.name:
            paths, started = program.paths(words[len(program.name) :])
            return [*paths, *(_paths(started, table) if started else ())]
    named = " ".join(words[:2]) if words and words[0] == "git" else (words or ("",))[0]
    raise Refused(f"{named} is not on the list of commands that only read")


def _plain(words: Sequence[str]) -> Sequence[str]:
    while len(words) > 1 and words[0] == "git" and words[1] in GLOBAL:
        words = (words[0], *words[2:])
    return words


def _normal(folder: str, name: str) -> Path:
    """Without `..`, and without looking at links."""
    return Path(os.path.normpath(Path(folder, name)))


def _names(word: str) -> tuple[str, ...]:
    return (word, word.rpartition(":")[2]) if ":" in word else (word,)


def _is_inside(word: str, cwd: str, folders: Sequence[str]) -> bool:
    if word in (STANDARD_INPUT, "/dev/null"):
        return True
    path = _normal(cwd, word)
    return any(path.is_relative_to(folder) for folder in folders)
