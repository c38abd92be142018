"""Parses the output of pytest with `--tb=short -rfE`: its sections of failures, its short summary, its last line."""

import re
from collections import defaultdict
from collections.abc import Iterable

from tark_lsp.tools.runners.report import Failure, Report, message_of

LAST = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.]+ ?s(?: \([\d:]+\))?\s*=*$")
COUNT = re.compile(r"(\d+) ([a-z]+)")
SUMMARY = "short test summary info"
BLOCK = re.compile(rf"^=+ (FAILURES|ERRORS|PASSES|warnings summary(?: \(final\))?|{SUMMARY}|slowest .*durations) =+$")
"""Only these titles begin a new block, because a test can print a similar line."""

TITLE = re.compile(r"^_+ (?!_)(.+?) _+$")
"""The title of a section in the blocks FAILURES and ERRORS."""

LISTED = re.compile(r"^(FAILED|ERROR) (\S.*?)(?: - (.*))?$")
PLACE = re.compile(r"^(?P<file>(?:[A-Za-z]:)?[^\s:<>][^:<>]*):(?P<line>\d+): (?:in |[A-Za-z_])")
SYNTAX = re.compile(r'^ +File "(?P<file>[^"]+)", line (?P<line>\d+)$')
STAGE = re.compile(r"^ERROR (?:at (?:setup|teardown) of|collecting) ")
NAMES = {"error": "errors", "warning": "warnings"}


def parse(text: str) -> Report:
    lines = text.splitlines()
    counts = next((found for line in reversed(lines) if (found := _counts(line)) is not None), None)
    listed = [match for line in _block(lines, SUMMARY) if (match := LISTED.match(line))]
    titles = {_title(match[2]) for match in listed}
    sections = _sections(lines, titles)
    failures = [_failure(match[2], match[3] or "", sections) for match in listed]
    if not listed:  # an option of the project removes the summary
        failures = [_read(title, "", body) for title, bodies in sections.items() for body in bodies]
    return Report(counts is not None, text, tuple(failures), counts or {})


def _counts(line: str) -> dict[str, int] | None:
    if (match := LAST.match(line.strip())) is None:
        return None
    return {NAMES.get(name, name): int(number) for number, name in COUNT.findall(match[1])}


def _block(lines: Iterable[str], name: str) -> list[str]:
    """The lines of the last block with this name. A test can print a similar one before it."""
    found: list[str] = []
    inside = False
    for line in lines:
        if (match := BLOCK.match(line)) is not None:
            inside = match[1] == name
            found = [] if inside else found
        elif inside:
            found.append(line)
    return found


def _sections(lines: Iterable[str], titles: set[str]) -> dict[str, list[list[str]]]:
    """The lines of each section by title. If `titles` are given, only these count: a test can print a similar line."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    inside = False
    body: list[str] = []
    for line in lines:
        if (block := BLOCK.match(line)) is not None:
            inside, body = block[1] in ("FAILURES", "ERRORS"), []
        elif inside and (match := TITLE.match(line)) and (not titles or _bare(match[1]) in titles):
            body = []
            found[_bare(match[1])].append(body)
        elif inside:
            body.append(line)
    return found


def _bare(title: str) -> str:
    return STAGE.sub("", title).replace("::", ".")


def _title(test: str) -> str:
    """The title of the section of this test: `test_a.py::TestX::test_y[1]` -> `TestX.test_y[1]`."""
    _, separator, name = test.partition("::")
    return (name if separator else test).replace("::", ".")


def _failure(test: str, said: str, sections: dict[str, list[list[str]]]) -> Failure:
    bodies = sections.get(_title(test))
    return _read(test, said, bodies.pop(0) if bodies else [])


def _read(test: str, said: str, body: list[str]) -> Failure:
    end = next((at for at, line in enumerate(body) if re.match(r"^-+ Captured ", line)), len(body))
    body = body[:end]
    file, separator, name = test.partition("::")
    told = [line[1:].removeprefix("   ") for line in body if line.startswith("E ") or line == "E"]
    named = file if separator or file.endswith(".py") else ""
    places = [(match["file"], int(match["line"])) for line in body if (match := PLACE.match(line))]
    own = [place for place in places if place[0].replace("\\", "/") == named.replace("\\", "/")]
    below = [place for place in places if not re.match(r"[A-Za-z]:|[/\\]|\.\.", place[0])]
    syntax = [(match["file"], int(match["line"])) for one in told if (match := SYNTAX.match(one))]
    file, line = next(reversed(own or syntax or below), (named, None))
    return Failure(message_of(told) or said or "failed", file, line, test=name if separator else "" if named else test)
