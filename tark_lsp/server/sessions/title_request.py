"""Asks the model for a session's title after its first turn, where the setting says so (`sessions.titles`)."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.aside import Aside, ask_aside
from tark_lsp.agent.limits import is_reached
from tark_lsp.agent.state import Turn
from tark_lsp.errors import TarkError
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, StopReason, Text, Usage
from tark_lsp.server.asking.visible import cut
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.sessions.titles import first_words
from tark_lsp.server.turns.turn_record import TurnRecord

log = logging.getLogger(__name__)

ASKED = (
    "Name this conversation between a person and a coding assistant, so that the person finds it again in a list. "
    "Answer with the name alone: three to seven words in the language of the person, no quotes, no full stop."
)
LONGEST_SHOWN = 2_000
"""Characters of the prompt and of the answer that are told to the model."""
MOST_TOKENS = 1_000
"""Of the answer: some models think first."""
TITLE = Aside("title", "title", longest=MOST_TOKENS, seconds=60.0)
AROUND = "\"'`*#“”«»„ "
"""What models put around a title."""


class Titles:
    """An `Observer`. The turn is over by then, and nothing waits for it; where it fails, the first words stay.

    Where a limit of the turn is reached, nobody is asked to go on for a title: the first words stay, too.
    """

    def __init__(self, sessions: Sessions, wanted: Callable[[], str]) -> None:
        """`wanted()`: the setting `sessions.titles`."""
        self._sessions = sessions
        self._wanted = wanted
        self._asking: dict[str, asyncio.Task[None]] = {}
        self.tell: Callable[[TurnRecord, events.AgentEvent], None] = lambda _, __: None
        """How the request is told, as those of turns are."""

    def accepted(self, record: TurnRecord) -> None:
        pass

    def event(self, record: TurnRecord, event: events.AgentEvent) -> None:
        pass

    def told(self, record: TurnRecord, seq: int, update: Mapping[str, Any]) -> None:
        pass

    def ended(self, record: TurnRecord, end: Mapping[str, Any]) -> None:
        session, turn = record.session, record.turn
        if turn is None or self._wanted() != "model" or end["stopReason"] != StopReason.END_TURN:
            return
        if is_reached(turn.limits, turn.requests, turn.usage, session.usage):
            return
        row = self._sessions.store.session(session.id)
        if row is None or row.turns > 1 or row.title != first_words(record.request.prompt):
            return
        asked = _asked(record.request.prompt, str(end["text"]))
        self._asking[session.id] = task = asyncio.create_task(self._ask(record, turn, asked))
        task.add_done_callback(lambda _: self._asking.pop(session.id, None))

    def cancel(self, session_id: str | None = None) -> None:
        """That of one session, or all."""
        for each, task in self._asking.items():
            if session_id in (None, each):
                task.cancel()

    async def stop(self) -> None:
        tasks = list(self._asking.values())
        self.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, record: TurnRecord, turn: Turn, asked: str) -> None:
        session, words = turn.session, turn.session.title
        request = ChatRequest(
            ASKED, (Message("user", (Text(asked),)),), max_output_tokens=MOST_TOKENS, session_id=session.id
        )

        def count(usage: Usage) -> None:
            session.usage += usage

        try:
            text = await ask_aside(
                TITLE, turn.model, request, turn.requests + 1, lambda event: self.tell(record, event), count
            )
        except TarkError as error:
            log.info("no title for %s: %s", session.id, error)
            return
        title = first_words(text).strip(AROUND)
        # Else the person was faster, or the session is no longer ours.
        if title and self._sessions.is_ours(session) and session.title == words:
            session.title = title
            self._sessions.save(session)


def _asked(prompt: str, answer: str) -> str:
    return f"The person:\n{cut(prompt, LONGEST_SHOWN)}\n\nThe assistant:\n{cut(answer, LONGEST_SHOWN)}"
