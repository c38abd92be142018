"""Parses the JSON of `jest --json` and `vitest run --reporter=json`, which have the same format."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from tark_lsp.tools.runners.report import Failure, Report, message_of

COUNTS = {"numPassedTests": "passed", "numFailedTests": "failed", "numPendingTests": "skipped", "numTodoTests": "todo"}
MOST_TRIES = 20
"""How many lines are tried that look like the JSON."""
NO_TESTS = re.compile(r"^No tests? (?:files )?found", re.MULTILINE)
STACK = re.compile(r"^\s*at ")
PLACE = re.compile(r"\(?(?:file://)?(?P<file>/?(?:[A-Za-z]:)?[^\s():]+):(?P<line>\d+):(?P<column>\d+)\)?\s*$")


def parse(text: str) -> Report:
    """The JSON is one line. Output of the tests and of the program is around it."""
    lines = text.split("\n")
    starts = [(number, at) for number, line in enumerate(lines) if (at := line.find('{"num')) >= 0]
    for number, at in reversed(starts[-MOST_TRIES:]):
        line = lines[number]
        try:
            found, end = json.JSONDecoder().raw_decode(line[at:])
            failures = [failure for file in found["testResults"] for failure in _failures(file)]
            counts = {name: int(found[key]) for key, name in COUNTS.items() if found.get(key)}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        broken = sum(not failure.test for failure in failures)
        rest = "\n".join([*lines[:number], line[:at] + line[at + end :], *lines[number + 1 :]]).strip("\n")
        return Report(True, rest or text, tuple(failures), {**counts, **({"errors": broken} if broken else {})})
    return Report(NO_TESTS.search(text) is not None, text)


def _failures(file: Mapping[str, Any]) -> Iterator[Failure]:
    """The failed tests of a file. A file that could not be loaded is one failure without a test."""
    name = str(file.get("name", ""))
    tests = [test for test in file["assertionResults"] if test["status"] == "failed"]
    if not file["assertionResults"] and file["status"] == "failed":
        message = str(file.get("message", ""))
        yield Failure(message_of(_without_stack(message)) or "the file could not be loaded", name, _line(message, name))
    for test in tests:
        message = "\n".join(str(one) for one in test.get("failureMessages") or ())
        location = test.get("location") or {}
        line = _line(message, name) or location.get("line")
        yield Failure(message_of(_without_stack(message)) or "failed", name, line, test=str(test["fullName"]))


def _without_stack(message: str) -> Iterator[str]:
    """The lines before the first stack trace."""
    for line in message.splitlines():
        if STACK.match(line):
            return
        if not line.startswith("  ● "):
            yield line


def _line(message: str, file: str) -> int | None:
    """The line of this file in the first frame of a stack trace that names it."""
    for line in message.splitlines():
        match = PLACE.search(line) if STACK.match(line) else None
        if match is not None and _is_same(unquote(match["file"]), file):
            return int(match["line"])
    return None


def _is_same(one: str, other: str) -> bool:
    """Whether both are the same file. One of them can be relative, or have other slashes."""
    names = sorted((name.replace("\\", "/").lstrip("/") for name in (one, other)), key=len)
    return bool(names[0]) and names[1].endswith(names[0])
