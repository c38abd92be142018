"""Compares the words of a simple command with a pattern such as `pytest *` or `npm run *:ci`. Pure."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

ANY = "*"


def matches(pattern: str, words: Sequence[str]) -> bool:
    """Each word of the pattern matches one word; `*` in it any part of that. A last word `*` matches any further
    words, also none. An empty pattern matches nothing."""
    parts = pattern.split()
    if parts[-1:] == [ANY]:
        first = parts[:-1]
        return len(words) >= len(first) and _all(first, words[: len(first)])
    return bool(parts) and len(words) == len(parts) and _all(parts, words)


def _all(parts: Sequence[str], words: Sequence[str]) -> bool:
    return all(fnmatchcase(word, _escaped(part)) for part, word in zip(parts, words, strict=True))


def _escaped(pattern: str) -> str:
    """Only `*` is a wildcard."""
    return pattern.replace("[", "[[]").replace("?", "[?]")
