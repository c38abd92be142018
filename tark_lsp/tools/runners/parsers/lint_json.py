"""Parses the JSON of checkers: one array from ruff and eslint, one object per line from mypy."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from tark_lsp.tools.runners.parsers import located
from tark_lsp.tools.runners.report import Failure, Report, counted, message_of

START = re.compile(r"^\[", re.MULTILINE)
MOST_TRIES = 20
"""How many lines are tried that can begin the array, so that similar output does not take long."""
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def parse_ruff(text: str) -> Report:
    return _of_array(text, _of_ruff)


def parse_eslint(text: str) -> Report:
    return _of_array(text, _of_eslint)


def parse_mypy(text: str) -> Report:
    """Parse JSON or, after a crash or with a version before 1.11, text."""
    failures, rest = [], []
    for line in text.splitlines():
        try:
            failures.append(_of_mypy(json.loads(line))) if line.startswith('{"file"') else rest.append(line)
        except UNREADABLE:
            rest.append(line)
    told = "\n".join(rest).strip("\n")
    if not failures:
        return located.parse(told)
    return Report(True, told or text, tuple(failures), counted(failures))


def _of_array(text: str, read: Callable[[Iterable[Any]], Iterable[Failure]]) -> Report:
    """The array begins at the start of a line. Warnings of the program can be around it."""
    for match in islice(START.finditer(text), MOST_TRIES):
        at = match.start()
        try:
            found, end = json.JSONDecoder().raw_decode(text, at)
            failures = tuple(read(found))
        except UNREADABLE:
            continue
        rest = (text[:at] + text[end:]).strip("\n")
        return Report(True, rest or text, failures, counted(failures))
    return Report(False, text)


def _of_ruff(found: Iterable[Mapping[str, Any]]) -> Iterator[Failure]:
    for one in found:
        place = one["location"]
        code = one["code"] or "syntax"
        yield Failure(message_of([one["message"]]), one["filename"], place["row"], place["column"], code)


def _of_eslint(found: Iterable[Mapping[str, Any]]) -> Iterator[Failure]:
    for file in found:
        for one in file["messages"]:
            severity = "error" if one["severity"] == 2 else "warning"
            code, line, column = one.get("ruleId") or "", one.get("line"), one.get("column")
            yield Failure(message_of([one["message"]]), file["filePath"], line, column, code, severity)


def _of_mypy(one: Mapping[str, Any]) -> Failure:
    hint = f"\n{one['hint']}" if one.get("hint") else ""
    line, column = one["line"], one["column"] + 1  # mypy's columns count from 0 here
    return Failure(message_of([one["message"] + hint]), one["file"], line, column, one["code"] or "", one["severity"])
