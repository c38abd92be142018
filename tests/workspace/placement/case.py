"""One case of the placement suite: what the model read and sends, what is in the file, what is right."""

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    RIGHT = "right"
    REFUSED = "refused"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Case:
    """`expected` is the only right text, None if no text is right; if not `safe`, a refusal is right, too.

    `seen` is the text the model read last, None if it read nothing; `now` the file as it is; `draft` what earlier edits
    of the same answer make of both.
    """

    kind: str
    seen: str | None
    now: str
    old: str
    new: str
    expected: str | None
    safe: bool
    hint: int | None = None
    replace_all: bool = False
    draft: str | None = None

    def judge(self, result: str | None) -> Verdict:
        """`result` is the whole text after the edit, None if it was refused; an unchanged text counts as refused."""
        if result == self.expected is not None:
            return Verdict.RIGHT
        untouched = self.now if self.draft is None else self.draft
        return Verdict.REFUSED if result in (None, untouched) else Verdict.WRONG
