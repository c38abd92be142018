"""The wildcards of permission rules as regular expressions that never take exponential or cubic time.

Rules can come from a repository, and paths and commands from a model. So a wildcard takes the shortest text up to the
first place where the text after it fits, and never tries a later place: `(?>...)`. This is exact, because an earlier
end leaves more for the next wildcard. `fnmatch.translate` does the same.
"""

import re
from functools import lru_cache

MANY = ("**", "**/")


@lru_cache(maxsize=256)
def path_pattern(pattern: str) -> re.Pattern[str]:
    """`*` matches within one part of a path, `**` across parts, `a/**/b` also `a/b`, `?` one character but no `/`."""
    pieces = _pieces(pattern)
    chunks: list[list[str]] = [[]]  # the wildcard that begins a chunk, then what follows it up to the next of MANY
    for piece in pieces:
        if piece in MANY:
            chunks.append([])
        chunks[-1].append(piece)
    *inner, last = chunks
    return re.compile("".join([*(_chunk(chunk, last=False) for chunk in inner), _chunk(last, last=True)]), re.DOTALL)


@lru_cache(maxsize=256)
def command_pattern(pattern: str) -> re.Pattern[str]:
    """`*` matches anything; a trailing ` *` also matches the command with no arguments."""
    optional = pattern.endswith(" *")
    first, *rest = (pattern[:-2] if optional else pattern).split("*")
    parts = [re.escape(first), *(f"(?>.*?{re.escape(text)})" for text in rest)]
    if optional:
        parts.append(r"(?:\s.*)?")
        if rest:  # the last text must not match at the first place, but where the command ends or a space follows
            parts[-2] = f".*{re.escape(rest[-1])}"
    elif rest:
        parts[-1] = f".*{re.escape(rest[-1])}"
    return re.compile("".join(parts), re.DOTALL)


def _pieces(pattern: str) -> list[str]:
    """Wildcards and the texts between them. Several wildcards of MANY in a row become one with the same meaning."""
    pieces: list[str] = []
    for piece in re.split(r"(\*\*/|\*\*|\*)", pattern):
        if not piece:
            continue
        if piece == "**/" and pieces and pieces[-1] not in MANY and not pieces[-1].endswith("/"):
            pieces += ["**", "/"]  # `a**/b`: not whole parts of a path
        elif piece in MANY and pieces and pieces[-1] in MANY:
            pieces[-1] = "**" if "**" in (piece, pieces[-1]) else piece
        else:
            pieces.append(piece)
    return pieces


def _chunk(pieces: list[str], *, last: bool) -> str:
    begin, rest = (pieces[0], pieces[1:]) if pieces and pieces[0] in MANY else ("", pieces)
    texts = _texts(rest, last=last)
    if last:
        return {"": "", "**": ".*", "**/": "(?:.*/)?"}[begin] + texts
    return {"": "", "**": "(?>.*?", "**/": "(?>(?:.*?/)??"}[begin] + texts + (")" if begin else "")


def _texts(pieces: list[str], *, last: bool) -> str:
    """Texts with `*` between them. At the end of the pattern, the last `*` reaches as far as it must."""
    text = re.split(r"(\*)", "".join(pieces))
    stars = [at for at, piece in enumerate(text) if piece == "*"]
    parts = [_plain(text[0])]
    for at in stars:
        following = _plain(text[at + 1])
        parts.append(f"[^/]*{following}" if last and at == stars[-1] else f"(?>[^/]*?{following})")
    return "".join(parts)


def _plain(text: str) -> str:
    return "".join("[^/]" if character == "?" else re.escape(character) for character in text)
