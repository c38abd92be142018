"""Parses make's messages about a failed run: the recipe, the line or the missing rule at which it stopped.

Other parsers read the output of its recipes (test runners, compilers). make's own message counts only if no earlier
output explains the failure.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from tark_lsp.tools.runners.parsers import any_text, located
from tark_lsp.tools.runners.report import Failure, Report, counted

MAKE = r"^(?:\S*/)?g?make(?:\[(?P<level>\d+)\])?: "
STOPS = (
    # make's line, the message
    (
        re.compile(rf"{MAKE}\*\*\* \[(?:(?P<file>[^:\]]+):(?P<line>\d+): )?(?P<target>[^\]]+)\] (?P<said>.+)$"),
        "recipe: ",
    ),
    (re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+): \*\*\* (?P<said>.+)$"), ""),
    (re.compile(rf"{MAKE}\*\*\* (?P<said>.+)$"), ""),
)
FOLDER = re.compile(rf"{MAKE}(?P<way>Entering|Leaving) directory ['`](?P<folder>.+)'$")
STOP = re.compile(r"\. +Stop\.$")


def parse_tests(text: str) -> Report:
    """The failures of the test runners; if there are none, where make stopped, and positions in the output."""
    known = any_text.parse(text)
    if known.understood and known.failures:
        return known
    found = [one for one in _failures(text, with_places=not known.understood) if one[0].severity == "error"]
    return replace(known, failures=tuple(failure for failure, _ in found), explained=not any(own for _, own in found))


def parse_checks(text: str) -> Report:
    found = [*_failures(text, with_places=True)]
    failures = tuple(failure for failure, _ in found)
    explained = not any(own for _, own in found)
    return Report(bool(failures), text, failures, counted(failures), explained)


def _failures(text: str, *, with_places: bool) -> Iterator[tuple[Failure, bool]]:
    """The failures in order, each with whether make itself wrote it. Files are relative to make's current folder."""
    folders: list[str] = []
    is_explained, deepest = False, 0
    for line in text.splitlines():
        if len(line) > located.LONGEST_LINE:
            continue
        if (moved := FOLDER.match(line)) is not None:
            folders = [*folders, moved["folder"]] if moved["way"] == "Entering" else folders[:-1]
        elif (stop := _stop(line)) is not None:
            level, failure = stop
            if not is_explained and level >= deepest:  # else it repeats the failure of a make that it ran
                yield _in_folder(failure, folders), True
            is_explained, deepest = False, level
        elif with_places and (place := located.failure_in(line)) is not None:
            is_explained = is_explained or place.severity == "error"
            yield _in_folder(place, folders), False


def _stop(line: str) -> tuple[int, Failure] | None:
    """The level of the make that stopped, and where it stopped."""
    for pattern, what in STOPS:
        if (match := pattern.match(line)) is not None:
            told = match.groupdict()
            number, said = told.get("line"), STOP.sub("", match["said"])
            failure = Failure(f"{what}{said}", told.get("file") or "", int(number) if number else None)
            return int(told.get("level") or 0), replace(failure, test=told.get("target") or "")
    return None


def _in_folder(failure: Failure, folders: list[str]) -> Failure:
    if not folders or not failure.file:
        return failure
    return replace(failure, file=posixpath.join(folders[-1], failure.file))
