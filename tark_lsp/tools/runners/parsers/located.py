"""Parses lines that begin with a position: `file:line:column: error: message` (compilers, mypy, go vet) and
`file(line,column): ...` (tsc)."""

import re

from tark_lsp.tools.runners.report import Failure, Report, counted, message_of

PATH = r"(?!\d+:)(?P<file>(?:[A-Za-z]:[\\/])?[^\s:()'\"<>][^:()'\"<>]*?)"
COLONS = re.compile(rf"^(?:vet: )?{PATH}:(?P<line>\d+)(?::(?P<column>\d+))?:? +(?P<said>\S.*)$")
PARENTHESES = re.compile(rf"^{PATH}\((?P<line>\d+)(?:,(?P<column>\d+))?\): +(?P<said>\S.*)$")
SAID = re.compile(
    r"^(?P<severity>error|fatal error|warning|note|info)(?:[ :\[]+(?P<code>[A-Z]+\d+)\]?)?:? +(?P<message>.*)$", re.I
)
CODE = re.compile(r"^(?P<message>.*\S) +\[(?P<code>[a-z][\w-]*)\]$")
LONGEST_LINE = 10_000
SEVERITIES = {"fatal error": "error", "info": "note"}


def parse(text: str) -> Report:
    failures = tuple(failure for line in text.splitlines() if (failure := failure_in(line)) is not None)
    return Report(bool(failures), text, failures, counted(failures))


def failure_in(line: str) -> Failure | None:
    match = PARENTHESES.match(line) or COLONS.match(line) if len(line) < LONGEST_LINE else None
    if match is None:
        return None
    message, severity, code = match["said"], "error", ""
    if (said := SAID.match(message)) is not None:
        severity = SEVERITIES.get(said["severity"].lower(), said["severity"].lower())
        message, code = said["message"], said["code"] or ""
    if not code and (found := CODE.match(message)) is not None:
        message, code = found["message"], found["code"]
    column = int(match["column"]) if match["column"] else None
    return Failure(message_of([message]), match["file"], int(match["line"]), column, code, severity)
