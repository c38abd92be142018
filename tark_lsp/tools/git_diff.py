"""Splits the output of `git diff` by file, with the names in each part. Pure."""

import re
from dataclasses import dataclass

NAME = re.compile(r"(?:--- |\+\+\+ |rename from |rename to |copy from |copy to )(.*)")
QUOTED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(frozen=True, slots=True)
class FileDiff:
    """`names`: all paths in it, relative to the folder in which git ran; empty if it shows no text."""

    names: frozenset[str]
    text: str


def files_of(diff: str) -> list[FileDiff]:
    """The diff of each file, in order. Lines of files cannot begin with `diff --git`, because a sign precedes them."""
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
            name = name[2:]  # a/ or b/, from the options of the call
        names.add(name)
    return frozenset(names)


def unquoted(name: str) -> str:
    """Unquote a path. Git quotes it with C escapes if it contains a quote, backslash or control character."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    inner = name[1:-1].encode("utf-8", "surrogateescape")

    def plain(found: re.Match[bytes]) -> bytes:
        escape = found[1]
        return bytes([int(escape, 8)]) if len(escape) > 1 else ESCAPES.get(escape, escape)

    return QUOTED.sub(plain, inner).decode("utf-8", "surrogateescape")
