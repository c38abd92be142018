"""`tark.usage`: tokens, cost and time of requests by model, as JSON and as a document for people."""

import time
from collections.abc import Iterable
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.commands import Command
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.sessions.usage import UsageSum, since_time, usage_cells, usage_json, usage_sums, usage_total
from tark_lsp.visible import table_cell

HEAD = "| model | requests | input | cached | output | reasoning | cost | time |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"


class UsageCommand:
    def __init__(self, sessions: Sessions, show: TextDisplay) -> None:
        self._sessions = sessions
        self._show = show

    def commands(self) -> Iterable[Command]:
        yield Command("tark.usage", command_payloads.ShowUsage, self.usage)

    async def usage(self, request: command_payloads.ShowUsage) -> dict[str, Any]:
        """Raises RequestError if `since` is not a time, or if there never was such a session."""
        try:
            since = since_time(request.since, time.time()) if request.since is not None else 0.0
        except ValueError as error:
            raise RequestError(f"since: {error}") from error
        read, session_id = self._sessions.store.file.read, request.session_id
        total = usage_total(read, since, session_id)
        if session_id is not None and not total.requests and not usage_total(read, session_id=session_id).requests:
            self._sessions.rows.find_row(session_id)  # raises; a deleted session still has its usage
        sums = usage_sums(read, "model", since, session_id)
        await self._show.command_result("usage", usage_table(sums, total))
        return {"models": [usage_json(model, "model") for model in sums], "total": usage_json(total)}


def usage_table(sums: list[UsageSum], total: UsageSum) -> str:
    rows = [*sums, *([total] if len(sums) > 1 else ())]
    table = HEAD + "".join(f"| {table_cell(row.key)} | {' | '.join(usage_cells(row))} |\n" for row in rows)
    return "# Usage\n\n" + (table if sums else "None.\n")
