"""The status line of the terminal chat: model, mode, approval level, how full the context is, what the session cost."""

from rich.cells import cell_len

from tark_lsp.cli.chatting.facts import Facts
from tark_lsp.cli.visible import one_line
from tark_lsp.sessions.usage import cost_text

SEPARATOR = " · "


def status_line(facts: Facts, doing: str, columns: int) -> str:
    """`doing`: what goes on; empty where nothing does. Where `columns` are too few, what stands last is left out."""
    cost = None if facts.cost is None and facts.turn_cost is None else (facts.cost or 0.0) + (facts.turn_cost or 0.0)
    thinking = f"thinking {facts.thinking}" if facts.thinking not in ("", "auto") else ""
    told = [
        doing,
        one_line(facts.model or "no model yet", 60),
        facts.mode,
        facts.approval,
        thinking,
        _context(facts),
        cost_text(cost),
    ]
    parts = [part for part in told if part]
    while len(parts) > 1 and cell_len(SEPARATOR.join(parts)) > columns:
        parts.pop()
    return SEPARATOR.join(parts)


def _context(facts: Facts) -> str:
    if not facts.used:
        return ""
    used = f"{facts.used / 1000:.1f}k"
    if not facts.window:
        return f"context {used}"
    return f"context {used} of {facts.window / 1000:.0f}k ({100 * facts.used // facts.window} %)"
