"""The output of `npm test`, `make test` and their like, which can be that of any test runner, or of several."""

import re

from tark_lsp.tools.runners.parsers import cargo_json, go_json, located, node_text, pytest_text, unittest_text
from tark_lsp.tools.runners.report import Failure, Report, message_of

KNOWN = (pytest_text.parse, unittest_text.parse, node_text.parse, cargo_json.parse_tests, go_json.parse_text)

JEST_COUNTS = re.compile(r"^ *Tests:? +((?:\d+ \w+(?:, | \| )?)+)", re.MULTILINE)
"""`Tests:  2 failed, 1 passed, 3 total` of jest, `Tests  2 failed | 1 passed (3)` of vitest."""
JEST_FAILURE = re.compile(r"^  ● (?P<test>.+)\n(?P<body>(?:(?!  ● ).*\n)*)", re.MULTILINE)
VITEST_FAILURE = re.compile(r"^ FAIL  (?P<test>\S+ (?:> |\[ ).+)\n(?P<body>(?:(?! FAIL |⎯).*\n)*)", re.MULTILINE)
JEST_PLACE = re.compile(r"(?:at .*?\(?|❯ )(?P<file>(?!node:)[^\s()]+?):(?P<line>\d+):\d+\)?$", re.MULTILINE)


def parse(text: str) -> Report:
    """It is understood if one of the known runners wrote its end. The counts are the sums."""
    reports = [report for read in (*KNOWN, parse_jest_text) if (report := read(text)).understood]
    if not reports:
        places = located.parse(text)  # of a compiler, perhaps: they are shown, but nothing says how many tests ran
        errors = tuple(failure for failure in places.failures if failure.severity == "error")
        return Report(False, text, errors)
    counts: dict[str, int] = {}
    for report in reports:
        for name, number in report.counts.items():
            counts[name] = counts.get(name, 0) + number
    return Report(True, text, tuple(failure for report in reports for failure in report.failures), counts)


def parse_jest_text(text: str) -> Report:
    """What jest and vitest write for people."""
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
