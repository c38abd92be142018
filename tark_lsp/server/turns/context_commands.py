"""`tark.session.context` and `tark.session.compact`."""

from collections.abc import Iterable
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.commands import Command
from tark_lsp.server.connection.early_answers import EarlyAnswer
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.context_budget import ContextBudget
from tark_lsp.server.turns.recording import Recorder
from tark_lsp.server.turns.turns import Turns


class ContextCommands:
    def __init__(self, sessions: Sessions, turns: Turns, recorder: Recorder, budget: ContextBudget) -> None:
        self._sessions = sessions
        self._turns = turns
        self._recorder = recorder
        self._budget = budget

    def commands(self) -> Iterable[Command]:
        yield Command("tark.session.context", command_payloads.SessionId, self.context)
        yield Command("tark.session.compact", command_payloads.SessionId, self.compact, early=EarlyAnswer())

    async def context(self, request: command_payloads.SessionId) -> Any:
        return await self._budget.measure_context(self._sessions.rows.read_session(request.session_id))

    async def compact(self, request: command_payloads.SessionId) -> Any:
        """Compacts the session. Turns that start meanwhile wait. Raises RequestError if a turn runs or waits, or if a
        compaction would free too little."""
        session = self._sessions.use(request.session_id)
        if self._sessions.live.is_busy(session.id):
            raise RequestError(
                "sessionId: a turn of this session is running or waits", hint="wait for its end, or cancel it"
            )
        rows = self._sessions.rows
        with self._turns.held_back(session.id):
            tokens = await self._budget.compact_history(
                session, lambda event: self._recorder.record_event(session, "", event)
            )
        return {**rows.json(rows.find_row(session.id)), **tokens}
