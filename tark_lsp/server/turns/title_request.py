"""Asks the model for a session's title after its first turn, if the setting `sessions.titles` is `model`."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from tark_lsp.agent.events import AgentEvent
from tark_lsp.agent.limits import is_limit_reached
from tark_lsp.agent.state import Turn
from tark_lsp.errors import TarkError
from tark_lsp.messages import StopReason, Usage
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.sessions.events import SessionDeleted, SessionEvent
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.sessions.title_text import first_words
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.server.turns.turns import Turns
from tark_lsp.visible import cut

log = logging.getLogger(__name__)

LONGEST_SHOWN = 2_000
"""The most characters of the prompt, and of the answer, in the request."""
AROUND = "\"'`*#“”«»„ "
"""Characters that models put around a title."""


class Titles:
    """An `Observer` of turns. Until a session has its title, the first words of its prompt are shown.

    The title is requested after the turn ended, and nothing waits for it. If the turn reached one of its limits, no
    title is requested.
    """

    def __init__(self, configuration: Configuration, sessions: Sessions, turns: Turns) -> None:
        self._configuration = configuration
        self._sessions = sessions
        self._turns = turns
        self._asking: dict[str, asyncio.Task[None]] = {}
        sessions.events.listen(self._on_session_event)
        turns.listen(self)

    def on_turn_accepted(self, record: TurnRecord) -> None:
        pass

    def on_turn_event(self, record: TurnRecord, event: AgentEvent) -> None:
        pass

    def on_update_sent(self, record: TurnRecord, seq: int, update: Mapping[str, Any]) -> None:
        pass

    def on_turn_ended(self, record: TurnRecord, end: Mapping[str, Any]) -> None:
        session, turn = record.session, record.turn
        wanted = self._configuration.settings.sessions.titles == "model"
        if turn is None or record.calls or not wanted or end["stopReason"] != StopReason.END_TURN:
            return
        if is_limit_reached(turn.granted, turn.requests, turn.usage, session.usage):
            return
        row = self._sessions.store.find_session(session.id)
        if row is None or row.turns > 1 or row.title != first_words(record.request.prompt):
            return
        shown = _shown(record.request.prompt, str(end["text"]))
        self._asking[session.id] = task = asyncio.create_task(self._ask(record, turn, shown))
        task.add_done_callback(lambda _: self._asking.pop(session.id, None))

    def cancel(self, session_id: str | None = None) -> None:
        """Cancel the request for one session, or for all."""
        for asked_id, task in self._asking.items():
            if session_id in (None, asked_id):
                task.cancel()

    async def stop(self) -> None:
        tasks = list(self._asking.values())
        self.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_session_event(self, event: SessionEvent) -> None:
        if isinstance(event, SessionDeleted):
            self.cancel(event.session_id)

    async def _ask(self, record: TurnRecord, turn: Turn, shown: str) -> None:
        from tark_lsp.agent.title import ask_for_title  # imported with the first title

        session, words = turn.session, turn.session.title

        def count(usage: Usage) -> None:
            session.usage += usage

        try:
            text = await ask_for_title(turn, shown, lambda event: self._turns.emit(record, event), count)
        except TarkError as error:
            log.info("no title for %s: %s", session.id, error)
            return
        title = first_words(text).strip(AROUND)
        # Not if the user renamed the session meanwhile, or another process took it over.
        if title and self._sessions.live.is_ours(session) and session.title == words:
            session.title = title
            self._sessions.save(session)


def _shown(prompt: str, answer: str) -> str:
    return f"The person:\n{cut(prompt, LONGEST_SHOWN)}\n\nThe assistant:\n{cut(answer, LONGEST_SHOWN)}"
