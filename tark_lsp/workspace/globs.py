"""File globs as models and rule files write them: `*.py`, `src/**/*.ts`, `{a,b}/?.c`. None takes exponential time."""

import fnmatch
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from tark_lsp.errors import ToolError

MOST_ALTERNATIVES = 64
"""The maximum number of patterns that braces can expand to. Nested and repeated braces multiply."""

LONGEST_GLOB = 1000

Segments: TypeAlias = tuple[re.Pattern[str] | None, ...]
"""One pattern for each part of a path. None is `**`: any number of parts, but at least one at the end."""


@dataclass(frozen=True, slots=True)
class Glob:
    alternatives: tuple[Segments, ...]

    @classmethod
    def parse(cls, pattern: str) -> "Glob":
        """A pattern without `/` matches the name at any depth. One that ends in `/` matches everything in that folder.

        Raises ToolError if it is longer than 1,000 characters, or there are too many braces.
        """
        if len(pattern) > LONGEST_GLOB or pattern.count("{") > MOST_ALTERNATIVES:
            raise ToolError(
                "invalid_arguments", "the glob is too long, or has too many braces", hint="use a simpler glob"
            )
        alternatives: list[Segments] = []
        for plain in expand_braces(pattern):
            if len(alternatives) == MOST_ALTERNATIVES:
                raise ToolError(
                    "invalid_arguments",
                    f"the braces stand for more than {MOST_ALTERNATIVES} patterns",
                    hint="use a simpler glob",
                )
            plain = plain.removeprefix("./").lstrip("/")
            plain += "**" if plain.endswith("/") else ""
            alternatives.append(segments_of(plain if "/" in plain else f"**/{plain}"))
        return cls(tuple(alternatives))

    def matches(self, path: str) -> bool:
        """`path` is relative to the folder that the pattern is for, with `/`."""
        parts = path.split("/")
        return any(match_segments(segments, parts) for segments in self.alternatives)


def segments_of(pattern: str) -> Segments:
    # fnmatch builds expressions that do not backtrack over a star, so their time is at most quadratic.
    return tuple(None if part == "**" else re.compile(fnmatch.translate(part)) for part in pattern.split("/"))


def match_segments(segments: Segments, parts: list[str]) -> bool:
    """Track all positions in the pattern after each part of the path: one pass, for any number of `**`."""
    end = len(segments)
    last = segments[-1]
    if last is not None and not last.match(parts[-1]):
        return False
    if end == 2 and segments[0] is None:  # only the name matters: the usual case
        return True
    places = _past_stars(segments, {0})
    for part in parts:
        following = set()
        for place in places:
            if place == end:
                continue
            segment = segments[place]
            if segment is None:
                following.add(place)
                if place == end - 1:
                    following.add(end)
            elif segment.match(part):
                following.add(place + 1)
        places = _past_stars(segments, following)
        if not places:
            return False
    return end in places


def _past_stars(segments: Segments, places: set[int]) -> set[int]:
    """A `**` that is not the last segment can match no part at all."""
    for place in sorted(places):
        while place < len(segments) - 1 and segments[place] is None:
            place += 1
            places.add(place)
    return places


def expand_braces(pattern: str) -> Iterator[str]:
    """`{a,b}c` -> `ac`, `bc`; braces can be nested. Braces that are not closed are plain characters."""
    depth = 0
    commas: list[int] = []
    start = pattern.find("{")
    for at in range(start, len(pattern)) if start >= 0 else ():
        character = pattern[at]
        if character == "{":
            depth += 1
        elif character == "," and depth == 1:
            commas.append(at)
        elif character == "}":
            depth -= 1
            if depth == 0:
                edges = [start, *commas, at]
                for left, right in pairwise(edges):
                    yield from expand_braces(pattern[:start] + pattern[left + 1 : right] + pattern[at + 1 :])
                return
    yield pattern


def folded(text: str) -> str:
    """The text without differences of case and Unicode form, which many file systems ignore."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def wants_hidden(pattern: str) -> bool:
    """Whether the pattern names a hidden file or folder, and so includes it: `.github/**`."""
    return any(part.startswith(".") and part not in {".", ".."} for part in re.split(r"[/{,]", pattern))


def name_pattern(pattern: str) -> str | None:
    """The last segment, if it narrows a search by name and means the same in ripgrep; else None."""
    name = pattern.rsplit("/", 1)[-1]
    if not name or set(name) <= {"*"} or "**" in name or set(pattern) & set("[]\\!:"):
        return None
    if pattern.count("{") != pattern.count("}") or name.count("{") != name.count("}"):  # a `/` inside braces
        return None
    return name
