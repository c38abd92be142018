"""Counts the cost of a turn's requests, and asks before the next request if a limit is reached."""

from tark_lsp.agent import events
from tark_lsp.agent.limits import require_within_limits
from tark_lsp.agent.state import Turn
from tark_lsp.messages import Usage


async def require_turn_within_limits(turn: Turn) -> None:
    """Call before each request, for any purpose. Raises LimitReached."""
    await require_within_limits(turn.granted, turn.requests, turn.usage, turn.session.usage, turn.context.editor)


def count_usage(turn: Turn, usage: Usage, context_used: int) -> None:
    """Call after each request. `context_used`: the tokens of the context."""
    turn.usage += usage
    turn.session.usage += usage
    if not (usage.input_tokens or usage.output_tokens):
        return
    turn.emit(events.UsageChanged(turn.usage, context_used, turn.resources.model.context_window))
    name = turn.resources.model.name
    if usage.cost_usd is None and not turn.resources.model.is_local and name not in turn.session.unpriced:
        turn.session.unpriced.add(name)
        settings = "limits.turnUsd" if turn.limits.session_usd is None else "limits.turnUsd and limits.sessionUsd"
        message = f"the price of {name} is unknown, so {settings} cannot be applied; limits.turnRequests still is"
        turn.emit(events.Notice("info", message))
