"""What a turn's requests cost: counted after each, and asked about before the next where a limit is reached."""

from tark_lsp.agent import events
from tark_lsp.agent.limits import stay_within
from tark_lsp.agent.state import Turn
from tark_lsp.messages import Usage


async def within_limits(turn: Turn) -> None:
    """Before each request, whatever for. Raises LimitReached."""
    await stay_within(turn.limits, turn.requests, turn.usage, turn.session.usage, turn.context.editor)


def count(turn: Turn, usage: Usage, context_used: int) -> None:
    """After each request. `context_used`: tokens of what the model is told."""
    turn.usage += usage
    turn.session.usage += usage
    if not (usage.input_tokens or usage.output_tokens):
        return
    turn.emit(events.UsageChanged(turn.usage, context_used, turn.model.context_window))
    limits, name = turn.limits, turn.model.name
    limited = [
        setting
        for setting, limit in (("turnUsd", limits.turn_usd), ("sessionUsd", limits.session_usd))
        if limit is not None
    ]
    if usage.cost_usd is None and limited and name not in turn.session.unpriced:
        turn.session.unpriced.add(name)
        settings = " and ".join(f"limits.{each}" for each in limited)
        message = f"what {name} costs is unknown, so {settings} cannot be kept; limits.turnRequests still is"
        turn.emit(events.Notice("info", message))
