"""The recorder: an `Observer` that stores everything of a turn before the person sees it.

Whatever goes wrong with storing, the turn goes on: the store itself goes on in memory and says so; a session that
another process took over is no longer written; anything else is a defect of ours, logged and said once.
"""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.session import Session
from tark_lsp.server.asking.visible import cut
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.sessions.titles import first_words
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.sessions.rows import SessionHeld, TurnRow, UsageRow

log = logging.getLogger(__name__)

NOT_STORED = frozenset({"hunks"})
"""Kinds of updates that are kept in another way: hunks are rows of their own, and told anew with every key typed."""
LONGEST_SHOWN = 300
"""Characters of the prompt in a stored `start`: the turn itself has all of it."""


class Recorder:
    def __init__(self, sessions: Sessions, tell: Callable[[str], None]) -> None:
        self._sessions = sessions
        self._store = sessions.store
        self._tell = tell
        self._said = False

    def accepted(self, record: TurnRecord) -> None:
        turn = _turn_row(record)
        self._sessions.accepted(record.session, turn)
        self._safely(record.session, lambda: self._begin(record.session, turn))

    def event(self, record: TurnRecord, event: events.AgentEvent) -> None:
        session = record.session
        if record.over:  # and it has let go of its session: what comes yet, of its title, is about the one that lives
            session = self._sessions.find(session.id) or session
        self.hear(session, record.id, event)

    def hear(self, session: Session, turn_id: str, event: events.AgentEvent) -> None:
        """What happens to a session's history and costs, in a turn or beside one (`turn_id` "")."""
        match event:
            case events.MessageAdded(message, call_ids):
                self._sessions.said(session, turn_id, message, call_ids)
                self._safely(session, lambda: self._store.add_message(session.id, turn_id, message, call_ids))
            case events.HistoryShortened(kept):
                self._safely(session, lambda: self._store.shortened(session.id, kept))
            case events.HistoryCompacted(summary, kept):
                self._safely(session, lambda: self._store.compacted(session.id, summary, kept))
            case events.Requested():
                self._safely(session, lambda: self._sessions.keep(session))
            case events.Answered():
                self._whatever_happens(session, lambda: self._used(session, turn_id, event))  # it costs, whosever it is
            case _:
                pass

    def told(self, record: TurnRecord, seq: int, update: Mapping[str, Any]) -> None:
        if update["kind"] == "start":
            update = {**update, "prompt": cut(update["prompt"], LONGEST_SHOWN)}
        if update["kind"] not in NOT_STORED:
            self._safely(record.session, lambda: self._store.add_update(record.id, seq, update))

    def ended(self, record: TurnRecord, end: Mapping[str, Any]) -> None:
        self._safely(record.session, lambda: self._store.end_turn(record.id, end))
        self._safely(record.session, lambda: self._sessions.keep(record.session))
        self._whatever_happens(record.session, lambda: self._sessions.ended(record.session, record.id, end))

    def _used(self, session: Session, turn_id: str, event: events.Answered) -> None:
        model, purpose, seconds, stop, usage = event.model, event.purpose, event.seconds, event.stop, event.usage
        place = self._sessions.first_folder()
        workspace = "" if place is None else str(place)
        row = UsageRow(session.id, turn_id, model, purpose, time.time(), seconds, stop, usage, workspace)
        self._store.add_usage(row)

    def _begin(self, session: Session, turn: TurnRow) -> None:
        self._sessions.keep(session)
        self._store.begin_turn(turn)

    def _safely(self, session: Session, work: Callable[[], Any]) -> None:
        if self._sessions.is_ours(session):
            self._whatever_happens(session, work)

    def _whatever_happens(self, session: Session, work: Callable[[], Any]) -> None:
        try:
            work()
        except SessionHeld as error:
            self._sessions.lose(session.id, error.holder)
        except Exception as error:  # a turn is not to end because it cannot be stored
            log.exception("not stored: something of %s", session.id)
            if not self._said:
                self._said = True
                self._tell(f"Tark: not all of this session is stored ({type(error).__name__}: {error})")


def _turn_row(record: TurnRecord) -> TurnRow:
    """And the title of its session, where that has none yet."""
    session, request = record.session, record.request
    if not session.title:
        about = record.target.name if record.target is not None else ""
        session.title = first_words(request.prompt) or first_words(f"{record.kind.name} {about}")
    shown = request.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"prompt", "context"})
    kind, model = record.kind.name, request.model or session.model
    return TurnRow(record.id, session.id, request.prompt, kind, model, time.time(), request=shown)
