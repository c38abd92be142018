"""`Report`: the parsed output of a test run or a check."""

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

LONGEST_MESSAGE = 1_000
"""Characters of the message of one failure."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed, or a problem that a check found.

    `file`: as the program wrote it, absolute or relative to some folder. `line`, `column`: from 1. `test`: the name of
    a test, or the code of a rule.
    """

    message: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    test: str = ""
    severity: str = "error"


@dataclass(frozen=True, slots=True)
class Report:
    """The parsed output of a run.

    - `understood`: the parser has found the end of a run of its kind. Else it is unknown what ran.
    - `text`: the human-readable part of the output; the whole output if there is no such part.
    - `counts`: by `passed`, `failed`, `errors`, `skipped` and other words of the program.
    - `explained`: the failures say what is wrong. Else the end of the output is shown, too.
    """

    understood: bool
    text: str
    failures: tuple[Failure, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    explained: bool = True

    @property
    def ran(self) -> int:
        """How many tests ran, without those that were skipped or left out."""
        return sum(self.counts.get(name, 0) for name in RAN)


RAN = ("passed", "failed", "errors", "xfailed", "xpassed")
Parser: TypeAlias = Callable[[str], Report]
"""Gets the output of both streams without terminal escapes. Never raises; unknown output is not `understood`."""


def counted(failures: Iterable[Failure]) -> dict[str, int]:
    """The counts of a check: its problems by severity (`errors`, `warnings`)."""
    counts: dict[str, int] = {}
    for failure in failures:
        name = "errors" if failure.severity == "error" else "warnings" if failure.severity == "warning" else "notes"
        counts[name] = counts.get(name, 0) + 1
    return counts


def message_of(lines: Iterable[str]) -> str:
    """Join lines to one message without common indentation and outer empty lines, cut after `LONGEST_MESSAGE`."""
    text = textwrap.dedent("\n".join(line.rstrip() for line in lines)).strip("\n")
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} [cut]"
