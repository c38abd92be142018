"""The limits of a turn. When one is reached, the user is asked whether to continue (protocol.md, `limits`)."""

from dataclasses import dataclass, field

from tark_lsp.errors import TarkError, ToolError
from tark_lsp.messages import StopReason, Usage
from tark_lsp.settings import Limits
from tark_lsp.tools.editor import Editor, Option

CONTINUE, STOP = Option("go-on", "Continue"), Option("stop", "Stop")


@dataclass(slots=True)
class Granted:
    """How much the turn can use before the user is asked. Each value grows by its limit if the user continues."""

    limits: Limits
    requests: int = field(init=False)
    turn_usd: float = field(init=False)
    session_usd: float | None = field(init=False)

    def __post_init__(self) -> None:
        self.requests = self.limits.turn_requests
        self.turn_usd = self.limits.turn_usd
        self.session_usd = self.limits.session_usd


class LimitReached(TarkError):
    code = "budget"

    def __init__(self, message: str, stop_reason: StopReason) -> None:
        super().__init__(message)
        self.stop_reason = stop_reason


async def require_within_limits(granted: Granted, requests: int, turn: Usage, session: Usage, editor: Editor) -> None:
    """Call before each request. Raises LimitReached if a limit is reached and the user does not continue."""
    limits = granted.limits
    if requests >= granted.requests:
        spent = f"this turn made {requests} requests to the model"
        await _ask(editor, spent, StopReason.MAX_TURN_REQUESTS)
        granted.requests += limits.turn_requests
    turn_cost, session_cost = turn.cost_usd or 0.0, session.cost_usd or 0.0
    if turn_cost >= granted.turn_usd:
        await _ask(editor, f"this turn cost ${turn_cost:.2f}", StopReason.BUDGET)
        granted.turn_usd += limits.turn_usd
    if granted.session_usd is not None and session_cost >= granted.session_usd:
        await _ask(editor, f"this session cost ${session_cost:.2f}", StopReason.BUDGET)
        granted.session_usd += limits.session_usd or 0.0


def is_limit_reached(granted: Granted, requests: int, turn: Usage, session: Usage) -> bool:
    """Whether `require_within_limits` would ask. Used for requests that are not worth a question."""
    spent = ((turn, granted.turn_usd), (session, granted.session_usd))
    return requests >= granted.requests or any(
        most is not None and (usage.cost_usd or 0.0) >= most for usage, most in spent
    )


async def _ask(editor: Editor, spent: str, stop_reason: StopReason) -> None:
    try:
        answer = await editor.ask_user(f"Tark: {spent}. Continue?", (STOP, CONTINUE), free_text=False)
    except ToolError:  # this editor cannot ask, so the turn stops, and the notice says so
        answer = None
    if answer != [CONTINUE.id] and answer != CONTINUE.id:
        raise LimitReached(f"Stopped: {spent}.", stop_reason)
