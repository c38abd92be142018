"""The status line of the terminal chat: model, mode, approval level, use of the context, cost of the session."""

from rich.cells import cell_len

from tark_lsp.cli.chatting.chat_session import SessionFacts
from tark_lsp.cli.visible import one_line
from tark_lsp.sessions.usage import cost_text

SEPARATOR = " · "


def status_line(facts: SessionFacts, activity: str, columns: int) -> str:
    """`activity`: what runs now; "" if nothing runs. If there are too few `columns`, the last parts are left out."""
    cost = None if facts.cost is None and facts.turn_cost is None else (facts.cost or 0.0) + (facts.turn_cost or 0.0)
    thinking = f"thinking {facts.thinking}" if facts.thinking not in ("", "auto") else ""
    candidates = [
        activity,
        one_line(facts.model or "no model yet", 60),
        f"agent {facts.agent}" if facts.agent else "",
        facts.mode,
        facts.approval,
        thinking,
        _context(facts),
        cost_text(cost),
    ]
    parts = [part for part in candidates if part]
    while len(parts) > 1 and cell_len(SEPARATOR.join(parts)) > columns:
        parts.pop()
    return SEPARATOR.join(parts)


def _context(facts: SessionFacts) -> str:
    if not facts.used:
        return ""
    used = f"{facts.used / 1000:.1f}k"
    if not facts.window:
        return f"context {used}"
    return f"context {used} of {facts.window / 1000:.0f}k ({100 * facts.used // facts.window} %)"
