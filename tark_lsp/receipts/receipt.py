"""Receipt: one line of the audit, about one step of one tool call."""

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

LONGEST_SUBJECT = 300
"""Characters of a title. The digest covers all of what it stands for."""


class Step(StrEnum):
    """The steps of a call, in their order. A call that is approved and has no end was cut off with the process."""

    SHOWN = "shown"
    """The user is asked; `detail` is why."""
    APPROVED = "approved"
    """`detail` is who or what approved it: you, a rule, a grant or the approval level."""
    REFUSED = "refused"
    """`detail` is who or what refused it, and why."""
    ENDED = "ended"
    """`detail` is how: completed, failed, cancelled, or what became of each edit."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """`at`: Unix seconds. `digest`: of exactly what the step is about; the same in all steps of a call unless what ran
    differs from what was shown, as after you rejected one of two changes. `subject`: one line for people, keys masked.
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
        """Raises ValueError if it is none."""
        if not isinstance(values, dict) or set(values) != {field.name for field in fields(cls)}:
            raise ValueError("its fields are not those of a receipt")
        return cls(**{**values, "step": Step(values["step"])})
