"""The caps on one turn: at each the person is asked whether to go on (protocol.md, `limits`)."""

from dataclasses import dataclass, field

from tark_lsp.errors import TarkError, ToolError
from tark_lsp.messages import StopReason, Usage
from tark_lsp.tools.tool import Editor, Option

GO_ON, STOP = Option("go-on", "Go on"), Option("stop", "Stop")


@dataclass(slots=True)
class Limits:
    """None: no such limit. A limit the person lets pass is raised by as much again."""

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


async def stay_within(limits: Limits, requests: int, turn: Usage, session: Usage, editor: Editor) -> None:
    """Before each request: raises LimitReached where a limit is used up and the person does not let it go on."""
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


def is_reached(limits: Limits, requests: int, turn: Usage, session: Usage) -> bool:
    """For a request that is not worth a question: would `stay_within` ask?"""
    spent = ((turn, limits.granted_turn_usd), (session, limits.granted_session_usd))
    return requests >= limits.granted_requests or any(
        granted is not None and (usage.cost_usd or 0.0) >= granted for usage, granted in spent
    )


async def _ask(editor: Editor, spent: str, stop_reason: StopReason) -> None:
    try:
        answer = await editor.ask(f"Tark: {spent}. Go on?", (STOP, GO_ON), free_text=False)
    except ToolError:  # this editor cannot ask: stopping is the safe answer, and it is said
        answer = None
    if answer != [GO_ON.id] and answer != GO_ON.id:
        raise LimitReached(f"Stopped: {spent}.", stop_reason)
