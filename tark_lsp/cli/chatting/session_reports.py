"""The slash commands that report on the session: `/context` and `/usage`."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.visible import one_line
from tark_lsp.sessions.usage import cost_text

Row = Mapping[str, Any]


class SessionReports:
    def __init__(self, conversation: Conversation) -> None:
        self._chat = conversation
        self._screen = conversation.screen

    async def context(self, _: str) -> None:
        answer = await self._chat.command("tark.session.context", {"sessionId": self._chat.session.require_id()})
        parts: Sequence[Row] = answer["parts"]
        width = max((len(one_line(part["name"], 50)) for part in parts), default=0)
        for part in parts:
            self._screen.print_line(f"{part['tokens']:>9,}  {one_line(part['name'], 50):{width}}  {why(part)}")
        window = answer.get("contextWindow")
        share = f" of {window:,} ({100 * answer['tokens'] // window} %)" if window else ""
        self._screen.print_line(f"{answer['tokens']:>9,}  tokens in the next prompt{share}", "bold")

    async def usage(self, _: str) -> None:
        answer = await self._chat.command("tark.usage", {"sessionId": self._chat.session.require_id()})
        for line in usage_lines(answer):
            self._screen.print_line(line)


def why(part: Row) -> str:
    """Why the part is there: its kind, and for automatic context also the reason."""
    kind, reason = one_line(str(part["kind"]), 20), part.get("reason")
    return f"{kind}: {one_line(str(reason), 50)}" if reason else kind


def usage_lines(answer: Mapping[str, Any]) -> list[str]:
    """The answer of `tark.usage` as a table: a row for each model, and a total if there are several."""
    rows: Sequence[Row] = answer.get("models") or ()
    named = [(one_line(str(row.get("model")), 60), row) for row in rows]
    if len(rows) > 1:
        named.append(("all", answer["total"]))
    width = max((len(name) for name, _ in named), default=0)
    return [f"{name:{width}}  {_usage(row)}" for name, row in named] or ["no usage yet"]


def _usage(row: Row) -> str:
    cost = cost_text(row.get("costUsd"), row.get("unpricedRequests") or 0)
    tokens = f"{row.get('inputTokens') or 0:,} in ({row.get('cachedTokens') or 0:,} cached)"
    return f"{tokens}, {row.get('outputTokens') or 0:,} out, cost {cost or 'unknown'}"
