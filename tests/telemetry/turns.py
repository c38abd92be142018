"""A turn as the observers see it, without a server."""

from dataclasses import dataclass, field

from tark_lsp.agent.session import Session
from tark_lsp.messages import ApprovalLevel, Mode


def session(model: str | None = "gemini/gemini-3.8-flash") -> Session:
    return Session("session-0123456789ab", model, Mode.BUILD, ApprovalLevel.CAREFUL)


@dataclass(slots=True)
class Record:
    id: str = "turn-0123456789ab"
    session: Session = field(default_factory=session)


END = {
    "stopReason": "end_turn",
    "text": "The secret words",
    "edits": [{"uri": "file:///secret.py", "state": "applied"}],
}
