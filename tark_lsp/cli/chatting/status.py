"""The status line of the terminal chat: model, mode, approval level, how full the context is, what the session cost."""

from tark_lsp.cli.chatting.conversation import Facts
from tark_lsp.cli.visible import one_line


def status_line(facts: Facts, doing: str) -> str:
    """`doing`: what goes on; empty where nothing does."""
    cost = None if facts.cost is None and facts.turn_cost is None else (facts.cost or 0.0) + (facts.turn_cost or 0.0)
    thinking = f"thinking {facts.thinking}" if facts.thinking not in ("", "auto") else ""
    parts = [
        one_line(facts.model or "no model yet", 60),
        facts.mode,
        facts.approval,
        thinking,
        _context(facts),
        "" if cost is None else f"${cost:.3f}",
        doing,
    ]
    return " · ".join(part for part in parts if part)


def _context(facts: Facts) -> str:
    if not facts.used:
        return ""
    used = f"{facts.used / 1000:.1f}k"
    if not facts.window:
        return f"context {used}"
    return f"context {used} of {facts.window / 1000:.0f}k ({100 * facts.used // facts.window} %)"
