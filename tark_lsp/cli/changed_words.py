"""Finds the words that differ in changed lines. Pure."""

import difflib
import re
from collections.abc import Sequence

WORD = re.compile(r"\w+|\s+|[^\w\s]")
MAX_PAIRS, MAX_LENGTH = 400, 400
"""The most pairs of lines that are compared in one place of a change, and the most characters of a line."""
LEAST_ALIKE = 0.4
"""If lines have less in common, their words are not compared, because nearly all of them would be marked."""

Columns = list[tuple[int, int]]


def changed_words(old: Sequence[str], new: Sequence[str]) -> tuple[list[Columns], list[Columns]]:
    """For each old and each new line: the columns of the words that are not in its counterpart."""
    in_old, in_new = [Columns() for _ in old], [Columns() for _ in new]
    for tag, old_start, old_end, new_start, new_end in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if tag != "replace" or (old_end - old_start) * (new_end - new_start) > MAX_PAIRS:
            continue
        for at in range(old_start, old_end):
            likeness = {to: _matcher(old[at], new[to]) for to in range(new_start, new_end)}
            to = max(likeness, key=lambda line: likeness[line].ratio(), default=-1)
            if to >= 0 and likeness[to].ratio() >= LEAST_ALIKE:
                in_old[at], in_new[to] = _different(likeness[to], old[at], new[to])
                new_start = to + 1  # the next old lines are compared only with the new lines after this one
    return in_old, in_new


def _matcher(old: str, new: str) -> "difflib.SequenceMatcher[str]":
    fits = max(len(old), len(new)) <= MAX_LENGTH
    return difflib.SequenceMatcher(None, WORD.findall(old) if fits else [], WORD.findall(new), autojunk=False)


def _different(matcher: "difflib.SequenceMatcher[str]", old: str, new: str) -> tuple[Columns, Columns]:
    before, after = WORD.findall(old), WORD.findall(new)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        [_columns(before, start, end) for _, start, end, _, _ in changes if start < end],
        [_columns(after, start, end) for _, _, _, start, end in changes if start < end],
    )


def _columns(words: Sequence[str], start: int, end: int) -> tuple[int, int]:
    first = sum(map(len, words[:start]))
    return first, first + sum(map(len, words[start:end]))
