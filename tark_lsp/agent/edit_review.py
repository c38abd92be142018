"""Decides when an edit inside the workspace is reviewed: before it is applied (`ask`) or after it (`after`). Pure.

It applies only if `decide_call` (approval.py) has nothing stricter. The user is always asked about protected paths,
deletions, edits outside the selection, and edits that match an ask rule.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tark_lsp.messages import ApprovalLevel

When: TypeAlias = Literal["ask", "after"]


@dataclass(frozen=True, slots=True)
class EditReview:
    """`setting`: `editReview`. `trusted`: `workspaceTrusted`; None counts as trusted. `in_place`: the client can review
    hunks in place (capability `review`)."""

    setting: When | None = None
    trusted: bool | None = None
    in_place: bool = False

    def when(self, level: ApprovalLevel) -> When:
        for row in TABLE:
            if row.fits(self, level):
                return row.when
        return "ask"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table. A condition that is None is ignored."""

    when: When
    trusted: bool | None = None
    level: ApprovalLevel | None = None
    setting: When | None = None
    in_place: bool | None = None

    def fits(self, review: EditReview, level: ApprovalLevel) -> bool:
        return (
            self.trusted in (None, review.trusted is not False)
            and self.level in (None, level)
            and self.setting in (None, review.setting)
            and self.in_place in (None, review.in_place)
        )


TABLE = (
    Row("ask", trusted=False),
    Row("ask", level=ApprovalLevel.MANUAL),
    Row("ask", setting="ask"),
    Row("after", setting="after"),
    Row("after", level=ApprovalLevel.BALANCED),
    Row("after", level=ApprovalLevel.CAREFUL, in_place=True),
)
"""The first row that matches decides. If none matches, it is `ask`."""
