"""Report: what the output of a test run or a check says, as data."""

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

LONGEST_MESSAGE = 1_000
"""Characters of the message of one failure."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed, or a problem that a check found.

    `file` is as the program wrote it: absolute, or relative to some folder. `line` and `column` count from 1. `test` is
    the name of a test, or the code of a rule.
    """

    message: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    test: str = ""
    severity: str = "error"


@dataclass(frozen=True, slots=True)
class Report:
    """`understood`: the parser has found the end of a run of its kind. Otherwise nothing is known about what ran.

    `counts`: by `passed`, `failed`, `errors`, `skipped` and other words of the program. `text`: the output for people,
    without the parts that are for programs; all of it if there is no other. `explained`: the failures say what is
    wrong; else the end of the output is shown beside them.
    """

    understood: bool
    text: str
    failures: tuple[Failure, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    explained: bool = True

    @property
    def ran(self) -> int:
        """How many tests ran: those that were only skipped or left out do not count."""
        return sum(self.counts.get(name, 0) for name in RAN)


RAN = ("passed", "failed", "errors", "xfailed", "xpassed")
Parser: TypeAlias = Callable[[str], Report]
"""Gets the output of both streams, without terminal escapes. Never raises; what it cannot read is not understood."""


def counted(failures: Iterable[Failure]) -> dict[str, int]:
    """The counts of a check: its problems by severity (`errors`, `warnings`)."""
    counts: dict[str, int] = {}
    for failure in failures:
        name = "errors" if failure.severity == "error" else "warnings" if failure.severity == "warning" else "notes"
        counts[name] = counts.get(name, 0) + 1
    return counts


def message_of(lines: Iterable[str]) -> str:
    """The lines as one message, without empty lines at its ends and common indentation, cut after `LONGEST_MESSAGE`."""
    text = textwrap.dedent("\n".join(line.rstrip() for line in lines)).strip("\n")
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} [cut]"
