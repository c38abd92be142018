"""Keeps only what the search program found below its roots.

The search program opens files by their paths. If a folder of a path becomes a link at that moment, it reads what the
link leads to. So each reported file is opened again without following links, and its lines are compared.
"""

import codecs
import io
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tark_lsp.workspace.disk.openat import DIRECTORY, Opener

LINE_LIMIT = 500
"""How many characters of a matching line are shown; minified files have lines of megabytes."""

SURE = 100
"""How many characters a line shares with its shortened form, whatever their length in bytes."""

FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class FoundLine:
    """One line of a file; `number` counts from 1. `hit` is False for the context lines around a match."""

    path: str
    number: int
    text: str
    hit: bool


@contextmanager
def opened(path: str, flags: int) -> Iterator[int]:
    """Open what is at this absolute path. Raises OSError if there is a link in the path."""
    if sys.platform == "win32":  # untested; links are not noticed
        handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    else:
        top = os.open("/", DIRECTORY)
        try:
            handle = Opener().open(top, path.strip("/").split("/"), flags)
        finally:
            os.close(top)
    try:
        yield handle
    finally:
        os.close(handle)


def existing(paths: Sequence[str]) -> list[str]:
    """The absolute paths that exist, in the same order."""
    if sys.platform == "win32":
        return [*paths]
    names: dict[str, frozenset[str]] = {}
    kept = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder not in names:
            names[folder] = _names_in(folder)
        if name in names[folder]:
            kept.append(path)
    return kept


def _names_in(folder: str) -> frozenset[str]:
    try:
        with opened(folder, FOLDER) as handle:
            return frozenset(os.listdir(handle))  # noqa: PTH208  # a handle
    except OSError:
        return frozenset()


def true_lines(lines: Sequence[FoundLine]) -> list[FoundLine]:
    """The lines that are really in their files, in the same order."""
    wanted: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for line in lines:
        wanted[line.path][line.number] = line.text
    true = {path: _true_numbers(path, numbers) for path, numbers in wanted.items()}
    return [line for line in lines if line.number in true[line.path]]


def _true_numbers(path: str, wanted: Mapping[int, str]) -> frozenset[int]:
    last, found = max(wanted), set()
    try:
        with opened(path, FILE) as handle:
            for number, text in enumerate(_lines_of(handle), 1):
                if number in wanted and _is_same(text, wanted[number]):
                    found.add(number)
                if number == last:
                    break
    except (OSError, UnicodeError):
        pass  # the lines found so far are in the file
    return frozenset(found)


def _lines_of(handle: int) -> Iterator[str]:
    """The lines as ripgrep reads them: UTF-8, or UTF-16 if the file begins with its byte order mark."""
    with open(handle, "rb", closefd=False) as stream:
        start = stream.read(2)
        stream.seek(0)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            yield from io.TextIOWrapper(stream, "utf-16", "replace", newline="\n")
            return
        for line in stream:
            yield line.decode("utf-8", "replace")


def _is_same(text: str, shown: str) -> bool:
    line = text.removeprefix("\ufeff").rstrip("\n").rstrip("\r")
    shown = shown.removeprefix("\ufeff")
    return line[: 2 * LINE_LIMIT] == shown or (len(line.encode()) > LINE_LIMIT and line[:SURE] == shown[:SURE])
