"""The limits of a turn: when one is reached, the user is asked whether to continue (protocol.md, `limits`)."""

from dataclasses import dataclass, field

from tark_lsp.errors import TarkError, ToolError
from tark_lsp.messages import StopReason, Usage
from tark_lsp.tools.tool import Editor, Option

CONTINUE, STOP = Option("go-on", "Continue"), Option("stop", "Stop")


@dataclass(slots=True)
class Limits:
    """None: no such limit. If the user continues, the limit is raised by its own amount."""

    turn_requests: int = 50
    turn_usd: float | None = 5.0
    session_usd: float | None = None
    tool_seconds: float = 30.0

    granted_requests: int = field(init=False)
    granted_turn_usd: float | None = field(init=False)
    granted_session_usd: float | None = field(init=False)

    def __post_init__(self) -> None:
        self.granted_requests = self.turn_requests
        self.granted_turn_usd = self.turn_usd
        self.granted_session_usd = self.session_usd


class LimitReached(TarkError):
    code = "budget"

    def __init__(self, message: str, stop_reason: StopReason) -> None:
        super().__init__(message)
        self.stop_reason = stop_reason


async def require_within_limits(limits: Limits, requests: int, turn: Usage, session: Usage, editor: Editor) -> None:
    """Call before each request. Raises LimitReached if a limit is reached and the user does not continue."""
    if requests >= limits.granted_requests:
        spent = f"this turn made {requests} requests to the model"
        await _ask(editor, spent, StopReason.MAX_TURN_REQUESTS)
        limits.granted_requests += limits.turn_requests
    turn_cost, session_cost = turn.cost_usd or 0.0, session.cost_usd or 0.0
    if limits.granted_turn_usd is not None and turn_cost >= limits.granted_turn_usd:
        await _ask(editor, f"this turn cost ${turn_cost:.2f}", StopReason.BUDGET)
        limits.granted_turn_usd += limits.turn_usd or 0.0
    if limits.granted_session_usd is not None and session_cost >= limits.granted_session_usd:
        await _ask(editor, f"this session cost ${session_cost:.2f}", StopReason.BUDGET)
        limits.granted_session_usd += limits.session_usd or 0.0


def is_limit_reached(limits: Limits, requests: int, turn: Usage, session: Usage) -> bool:
    """Whether `require_within_limits` would ask: for a request that is not worth a question."""
    spent = ((turn, limits.granted_turn_usd), (session, limits.granted_session_usd))
    return requests >= limits.granted_requests or any(
        granted is not None and (usage.cost_usd or 0.0) >= granted for usage, granted in spent
    )


async def _ask(editor: Editor, spent: str, stop_reason: StopReason) -> None:
    try:
        answer = await editor.ask_user(f"Tark: {spent}. Continue?", (STOP, CONTINUE), free_text=False)
    except ToolError:  # this editor cannot ask: stop, which is safe, and the notice says so
        answer = None
    if answer != [CONTINUE.id] and answer != CONTINUE.id:
        raise LimitReached(f"Stopped: {spent}.", stop_reason)
