"""`Promise`: a sentence, and an experiment that counts how often it held."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.trust_report.corpora import Corpora

SHOWN_FAILURES = 5
"""The maximum number of failures that are shown for a row. There can be thousands."""


class NotMeasured(Exception):
    """The experiment cannot be run here. The text is a clause with the reason, for the user."""


@dataclass(frozen=True, slots=True)
class Ground:
    """The input of an experiment. `folder`: empty, and removed afterwards. `thorough`: try all cases, for minutes."""

    folder: Path
    corpora: Corpora
    thorough: bool = False
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """`tried`: a clause that says what was done. `failures`: one line for each of the `count` cases that did not hold.

    `needed`: how many must hold; None: all. `note`: an additional figure.
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
    """`order`: its position in the report. `measure`: runs the experiment; raises NotMeasured if something is missing.
    `is_timed`: the verdict depends on the speed of the machine, so tests do not check it."""

    order: int
    says: str
    measure: Callable[[Ground], Awaitable[Outcome]]
    is_timed: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report. `outcome`: None if nothing was measured; then `why_not` says why.

    `is_error`: the experiment itself failed, so the result is unknown. This counts as broken.
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
