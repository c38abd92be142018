"""Finds the lines of a file that are most similar to lines that the file does not have; pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from tark_lsp.workspace.placing.deadline import checked_each

SHOWN_LINES = 12
COMMON = 50
"""A key that is found more often than this says nothing about the place."""


def nearest_lines(lines: Sequence[str], wanted: Sequence[str]) -> range:
    """The numbers (from 0) of the lines most similar to `wanted`, at most `SHOWN_LINES`; empty if none is similar.

    Each line that is found in the file votes for the place at which `wanted` would then begin. If no line is found,
    each word votes, then each line of signs. Rare ones count more. This takes milliseconds. Comparing every range of
    lines would take seconds.
    """
    for keys, common in ((_whole, COMMON), (_words, COMMON), (_signs, len(lines))):
        votes = _votes(lines, wanted, keys, common)
        if votes:
            best = max(votes.values())
            start = max(0, min(at for at, weight in votes.items() if weight == best))
            return range(start, min(len(lines), start + min(len(wanted), SHOWN_LINES)))
    return range(0)


def _whole(line: str) -> list[str]:
    stripped = line.strip()
    return [stripped] if len(stripped) > 1 else []


def _words(line: str) -> list[str]:
    return re.findall(r"\w{3,}", line[:1000])


def _signs(line: str) -> list[str]:
    """The line, and its parts, however short and common they are."""
    stripped = line[:1000].strip()
    return list({stripped, *stripped.split(), *re.findall(r"\w+", stripped)} - {""})


def _votes(lines: Sequence[str], wanted: Sequence[str], keys: Callable[[str], list[str]], common: int) -> Counter[int]:
    sought = {key for line in wanted for key in keys(line)}
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        checked_each(at)
        for key in keys(line):
            if key in sought:
                places[key].append(at)
    votes: Counter[int] = Counter()
    for index, line in enumerate(wanted):
        for key in keys(line):
            found = places.get(key, [])
            if 0 < len(found) <= common:
                for at in found[:COMMON]:
                    votes[at - index] += 1000 // len(found)
    return votes
