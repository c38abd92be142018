"""Splits the output of `git diff` into files, with the names in each. Pure."""

import re
from dataclasses import dataclass

NAME = re.compile(r"(?:--- |\+\+\+ |rename from |rename to |copy from |copy to )(.*)")
QUOTED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(frozen=True, slots=True)
class FileDiff:
    """`names`: every path in it, relative to the folder that git ran in; empty if it shows no text."""

    names: frozenset[str]
    text: str


def files_of(diff: str) -> list[FileDiff]:
    """One for each file, in order. A line of a file never begins with `diff --git`, because a sign precedes it."""
    pieces = re.split(r"^(?=diff --git )", diff, flags=re.MULTILINE)
    return [FileDiff(_names(piece), piece) for piece in pieces if piece.strip()]


def _names(piece: str) -> frozenset[str]:
    head = re.split(r"^@@ ", piece, maxsplit=1, flags=re.MULTILINE)[0]
    names = set()
    for line in head.split("\n"):
        found = NAME.fullmatch(line)
        if not found:
            continue
        name = unquoted(found[1].removesuffix("\t"))
        if line.startswith(("--- ", "+++ ")):
            if name == "/dev/null":
                continue
            name = name[2:]  # a/ or b/, which the options of the call set
        names.add(name)
    return frozenset(names)


def unquoted(name: str) -> str:
    """The path from git's output, which quotes it with C escapes if it contains a quote, backslash or control."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    inner = name[1:-1].encode("utf-8", "surrogateescape")

    def plain(found: re.Match[bytes]) -> bytes:
        escape = found[1]
        return bytes([int(escape, 8)]) if len(escape) > 1 else ESCAPES.get(escape, escape)

    return QUOTED.sub(plain, inner).decode("utf-8", "surrogateescape")
