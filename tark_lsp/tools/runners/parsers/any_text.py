"""Parses the output of `npm test`, `make test` and similar commands, which can run any test runner, or several."""

import re

from tark_lsp.tools.runners.parsers import cargo_json, go_json, located, node_text, pytest_text, unittest_text
from tark_lsp.tools.runners.report import Failure, Report, message_of

KNOWN = (pytest_text.parse, unittest_text.parse, node_text.parse, cargo_json.parse_tests, go_json.parse_text)

JEST_COUNTS = re.compile(r"^ *Tests:? +((?:\d+ \w+(?:, | \| )?)+)", re.MULTILINE)
"""`Tests:  2 failed, 1 passed, 3 total` from jest, `Tests  2 failed | 1 passed (3)` from vitest."""
JEST_FAILURE = re.compile(r"^  ● (?P<test>.+)\n(?P<body>(?:(?!  ● ).*\n)*)", re.MULTILINE)
VITEST_FAILURE = re.compile(r"^ FAIL  (?P<test>\S+ (?:> |\[ ).+)\n(?P<body>(?:(?! FAIL |⎯).*\n)*)", re.MULTILINE)
JEST_PLACE = re.compile(r"(?:at .*?\(?|❯ )(?P<file>(?!node:)[^\s()]+?):(?P<line>\d+):\d+\)?$", re.MULTILINE)


def parse(text: str) -> Report:
    """The output is understood if it contains the end of a known runner's output. The counts are the sums."""
    reports = [report for read in (*KNOWN, parse_jest_text) if (report := read(text)).understood]
    if not reports:
        places = located.parse(text)  # perhaps of a compiler: they are shown, but the number of tests is unknown
        errors = tuple(failure for failure in places.failures if failure.severity == "error")
        return Report(False, text, errors)
    counts: dict[str, int] = {}
    for report in reports:
        for name, number in report.counts.items():
            counts[name] = counts.get(name, 0) + number
    return Report(True, text, tuple(failure for report in reports for failure in report.failures), counts)


def parse_jest_text(text: str) -> Report:
    """Parse the human-readable output of jest and vitest."""
    counts: dict[str, int] = {}
    for match in JEST_COUNTS.finditer(text):
        for number, name in re.findall(r"(\d+) (passed|failed|skipped|todo)", match[1]):
            counts[name] = counts.get(name, 0) + int(number)
    failures: dict[str, Failure] = {}
    for match in (*JEST_FAILURE.finditer(text), *VITEST_FAILURE.finditer(text)):
        if match["test"] == "Console":
            continue
        place = next((one for one in JEST_PLACE.finditer(match["body"]) if "node_modules" not in one["file"]), None)
        told = re.split(r"\n +(?:\d+ \||at |> \d+ \||❯ )", match["body"])[0]
        told_lines = [line.strip() for line in told.splitlines() if line.strip()]
        file, line = (place["file"], int(place["line"])) if place else ("", None)
        failures.setdefault(match["test"], Failure(message_of(told_lines) or "failed", file, line, test=match["test"]))
    return Report(bool(counts), text, tuple(failures.values()), counts)
