"""The state of the session that the terminal chat shows."""

from dataclasses import dataclass, field

from tark_lsp.errors import RequestError


@dataclass(slots=True)
class SessionFacts:
    """The contents of the status line. With an agent, they are the effective model, mode and level.

    `cost`: dollars of the turns that ended. None: no price is known.
    """

    model: str | None = None
    mode: str = ""
    approval: str = ""
    thinking: str = ""
    used: int = 0
    window: int | None = None
    cost: float | None = None
    turn_cost: float | None = None
    agent: str = ""


@dataclass(slots=True)
class ChatSession:
    """If `id` is None, the next prompt creates the session. `last_turn` is the turn that /undo takes back."""

    id: str | None = None
    title: str = ""
    last_turn: str | None = None
    read_only: bool = False
    facts: SessionFacts = field(default_factory=SessionFacts)

    def require_id(self) -> str:
        """Raises RequestError if the session has not started."""
        if self.id is None:
            raise RequestError("this session has not started yet", hint="/resume continues an earlier one")
        return self.id
