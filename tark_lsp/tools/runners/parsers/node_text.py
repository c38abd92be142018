"""Parses the output of Node's own test runner in both formats: TAP, and the human-readable `spec`."""

import re
from collections.abc import Sequence

from tark_lsp.tools.runners.report import Failure, Report, message_of

COUNT = re.compile(r"^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) (\d+)$")
NAMES = {"pass": "passed", "fail": "failed", "cancelled": "cancelled", "skipped": "skipped", "todo": "todo"}
NOT_OK = re.compile(r"^(?P<indent> *)not ok \d+ - (?P<test>.*?)(?: # .*)?$")
KEY = re.compile(r"^(?P<key>\w+): (?P<value>.*)$")
FROM = re.compile(r"^test at (?P<file>.+):(?P<line>\d+):\d+$")
CROSS = re.compile(r"^✖ (?P<test>.+?)(?: \([\d.]+ms\))?$")
STACK = re.compile(r"\(?(?:file://)?(?P<file>(?:[A-Za-z]:)?[^\s():]+):(?P<line>\d+):\d+\)?$")
FAILING = "✖ failing tests:"


def parse(text: str) -> Report:
    lines = text.splitlines()
    counts: dict[str, int] = {}
    for line in lines:
        if (match := COUNT.match(line)) is not None:
            counts[match[1]] = int(match[2])
    known = {NAMES[name]: number for name, number in counts.items() if name in NAMES and number}
    found = _of_spec(lines[lines.index(FAILING) + 1 :]) if FAILING in lines else _of_tap(lines)
    return Report("tests" in counts, text, tuple(found), known)


def _of_tap(lines: Sequence[str]) -> list[Failure]:
    failures = []
    for at, line in enumerate(lines):
        if (match := NOT_OK.match(line)) is None or "# TODO" in line:
            continue
        indent = f"{match['indent']}  "
        body = []
        for following in lines[at + 1 : at + 200]:
            if not following.startswith(indent) or following == f"{indent}...":
                break
            body.append(following[len(indent) :])
        fields = _fields(body)
        if fields.get("failureType", [""])[0] == "subtestsFailed":
            continue  # its subtests show what failed
        place = STACK.search(fields.get("location", [""])[0])
        stack = [found for one in fields.get("stack", ()) if (found := STACK.search(one.strip()))]
        if place is not None:
            place = next((one for one in stack if one["file"] == place["file"]), place)
        failures.append(_failure(match["test"], fields.get("error", []), place))
    return failures


def _fields(body: Sequence[str]) -> dict[str, list[str]]:
    """The keys of the YAML below a test, in the forms that Node writes: a value in one line, or lines after `|-`."""
    fields: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in body:
        if (match := KEY.match(line)) is not None:
            value = match["value"].strip()
            lines = fields[match["key"]] = [] if value.startswith("|") else [value.strip("'\"")]
        elif line.startswith("  "):
            lines.append(line[2:])
    return fields


def _of_spec(lines: Sequence[str]) -> list[Failure]:
    failures = []
    starts = [at for at, line in enumerate(lines) if FROM.match(line)]
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        place, cross = FROM.match(lines[at]), CROSS.match(lines[at + 1]) if at + 1 < end else None
        body = [line.removeprefix("  ") for line in lines[at + 2 : end]]
        told = message_of(body[: next((n for n, line in enumerate(body) if re.match(r"^ *at ", line)), len(body))])
        if cross is None or place is None:
            continue
        stack = [found for line in body if (found := STACK.search(line.strip()))]
        own = next((one for one in stack if one["file"].endswith(place["file"])), None)
        failures.append(_failure(cross["test"], told.splitlines(), own or place))
    return failures


def _failure(test: str, told: Sequence[str], place: re.Match[str] | None) -> Failure:
    message = message_of(told) or "failed"
    return Failure(message, place["file"] if place else "", int(place["line"]) if place else None, test=test)
