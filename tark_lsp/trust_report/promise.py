"""What a promise is: a sentence, and an experiment that counts how often it held."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.trust_report.corpora import Corpora

SHOWN_FAILURES = 5
"""Of a row; there can be thousands."""


class NotMeasured(Exception):
    """The experiment cannot be made here; the text says why, as a clause for the user."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What an experiment gets. `folder` is empty, and is removed afterwards. `thorough`: all cases, in minutes."""

    folder: Path
    corpora: Corpora
    thorough: bool = False
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """`tried`: what was done, as a clause. `failures`: one line for each of the `count` cases that did not hold.

    `needed`: how many must hold; None: all. `note`: a figure beside it.
    """

    tried: str
    count: int
    failures: tuple[str, ...] = ()
    needed: int | None = None
    note: str = ""

    @property
    def held(self) -> int:
        return self.count - len(self.failures)

    @property
    def is_kept(self) -> bool:
        return self.count > 0 and self.held >= (self.count if self.needed is None else self.needed)


@dataclass(frozen=True, slots=True)
class Promise:
    """`order`: its place in the report. `measure` raises NotMeasured if something is missing; else it counts.
    `is_timed`: the verdict depends on the speed of the machine, so tests do not judge it."""

    order: int
    says: str
    measure: Callable[[Ground], Awaitable[Outcome]]
    is_timed: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report. `outcome` is None if nothing was measured; `why_not` says why.

    `is_error`: the experiment itself failed, so nothing is known. That counts as broken.
    """

    promise: str
    outcome: Outcome | None
    seconds: float
    why_not: str = ""
    is_error: bool = False

    @property
    def is_broken(self) -> bool:
        return self.is_error or (self.outcome is not None and not self.outcome.is_kept)

    @property
    def verdict(self) -> str:
        if self.is_error:
            return "FAILED"
        if self.outcome is None:
            return "not measured"
        return "held" if self.outcome.is_kept else "BROKEN"
