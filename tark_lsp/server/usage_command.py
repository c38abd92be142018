"""`tark.usage`: tokens, cost and time of requests by model, as JSON and as a document for people."""

import time
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server import protocol
from tark_lsp.server.asking.visible import visible
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.answers import Answers
from tark_lsp.sessions.usage import UsageSum, since_time, usage_cells, usage_json, usage_sums, usage_total

HEAD = "| model | requests | input | cached | output | reasoning | cost | time |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"


class UsageCommand:
    def __init__(self, sessions: Sessions, answers: Answers) -> None:
        self._sessions = sessions
        self._answers = answers

    async def usage(self, request: protocol.ShowUsage, _: Any) -> dict[str, Any]:
        """Raises RequestError for a `since` that is no time, and for a session nobody ever knew of."""
        try:
            since = since_time(request.since, time.time()) if request.since is not None else 0.0
        except ValueError as error:
            raise RequestError(f"since: {error}") from error
        read, session_id = self._sessions.store.read, request.session_id
        total = usage_total(read, since, session_id)
        if session_id is not None and not total.requests and not usage_total(read, session_id=session_id).requests:
            self._sessions.row(session_id)  # one that was deleted has its usage still
        sums = usage_sums(read, "model", since, session_id)
        await self._answers.result("usage", usage_table(sums, total))
        return {"models": [usage_json(each, "model") for each in sums], "total": usage_json(total)}


def usage_table(sums: list[UsageSum], total: UsageSum) -> str:
    rows = [*sums, *([total] if len(sums) > 1 else ())]
    table = HEAD + "".join(
        f"| {visible(each.key).replace('|', '¦')} | {' | '.join(usage_cells(each))} |\n" for each in rows
    )
    return "# Usage\n\n" + (table if sums else "None.\n")
