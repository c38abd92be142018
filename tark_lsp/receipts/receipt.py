"""`Receipt`: one line of the audit, about one step of one tool call."""

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

LONGEST_SUBJECT = 300
"""Characters of a title. The digest covers the full call."""


class Step(StrEnum):
    """The steps of a call, in order. If an approved call has no end, the process ended during the call."""

    SHOWN = "shown"
    """The user is asked. `detail`: the reason."""
    APPROVED = "approved"
    """`detail`: who or what approved it: the user, a rule, a grant or the approval level."""
    REFUSED = "refused"
    """`detail`: who or what refused it, and why."""
    ENDED = "ended"
    """`detail`: how it ended: completed, failed, cancelled, or the result of each edit."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """`at`: Unix seconds. `subject`: one line for the user, with masked keys.

    `digest`: identifies exactly what the step is about. It is the same in all steps of a call, unless what ran differs
    from what was shown, for example after the user rejected one of two changes.
    """

    at: float
    session: str
    turn: str
    call: str
    tool: str
    step: Step
    digest: str
    subject: str
    detail: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Any) -> "Receipt":
        """Raises ValueError if `values` are not a receipt."""
        if not isinstance(values, dict) or set(values) != {field.name for field in fields(cls)}:
            raise ValueError("its fields are not those of a receipt")
        return cls(**{**values, "step": Step(values["step"])})
