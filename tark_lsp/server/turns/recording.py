"""The recorder: an `Observer` that stores everything of a turn before the user sees it.

If storing fails, the turn continues. If the file fails, the store continues in memory and reports that. A session that
another process took over is not written any more. Any other failure is a bug in Tark: it is logged, and reported once.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.call_figures import CallFigures, CallMeter
from tark_lsp.agent.session import Session
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.sessions.title_text import first_words
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.sessions import tool_calls
from tark_lsp.sessions.rows import SessionHeld, TurnRow, UsageRow
from tark_lsp.sessions.usage import add_usage
from tark_lsp.visible import cut

log = logging.getLogger(__name__)

NOT_STORED = frozenset({"hunks", "undone"})
"""Kinds of updates that are not stored here. Hunks are stored as separate rows, and are sent again at every key. Undone
changes are known from the checkpoints."""
LONGEST_SHOWN = 300
"""The most characters of the prompt in a stored `start`. The row of the turn has the whole prompt."""


class Recorder:
    def __init__(self, sessions: Sessions, warn: Callable[[str], None]) -> None:
        self._sessions = sessions
        self._store = sessions.store
        self._warn = warn
        self._warned = False
        self._meters: dict[str, CallMeter] = {}

    def on_turn_accepted(self, record: TurnRecord) -> None:
        turn = _turn_row(record)
        self._sessions.live.turn_accepted(record.session, turn)
        self._store_own(record.session, lambda: self._begin(record.session, turn))
        if problem := self._store.file.problem:  # shown in each turn until the file can be used again
            record.notes.append(f"this session is kept in memory only: {problem}")

    def on_turn_event(self, record: TurnRecord, event: events.AgentEvent) -> None:
        session = record.session
        if record.over:  # the record does not hold its session any more; a late event (a title) is about the live one
            session = self._sessions.live.get_session(session.id) or session
        self.record_event(session, record.id, event)

    def record_event(self, session: Session, turn_id: str, event: events.AgentEvent) -> None:
        """Store the event in the session's history and costs. `turn_id` is "" outside of a turn."""
        match event:
            case events.MessageAdded(message, call_ids):
                self._sessions.live.message_added(session, turn_id, message, call_ids)
                self._store_own(session, lambda: self._store.log.add_message(session.id, turn_id, message, call_ids))
            case events.HistoryShortened(kept):
                self._store_own(session, lambda: self._store.log.mark_shortened(session.id, kept))
            case events.HistoryCompacted(summary, kept):
                self._store_own(session, lambda: self._store.log.mark_compacted(session.id, summary, kept))
            case events.Requested():
                self._store_own(session, lambda: self._sessions.keep(session))
            case events.Answered():  # the cost is stored even if another process holds the session now
                self._store_safely(session, lambda: self._add_usage(session, turn_id, event))
            case events.CallChanged():
                meter = self._meters.setdefault(turn_id, CallMeter())
                if (figures := meter.event(time.monotonic(), event)) is not None:
                    self._add_calls(session, turn_id, [figures])
            case _:
                pass

    def on_update_sent(self, record: TurnRecord, seq: int, update: Mapping[str, Any]) -> None:
        if update["kind"] == "start":
            update = {**update, "prompt": cut(update["prompt"], LONGEST_SHOWN)}
        if update["kind"] == "toolCall" and "content" in update and record.session.masks is not None:
            # The user sees the unchanged diff. The stored and exported one has its secrets masked.
            update = {**update, "content": record.session.masks.mask_json(update["content"])}
        if update["kind"] not in NOT_STORED:
            self._store_own(record.session, lambda: self._store.log.add_update(record.id, seq, update))

    def on_turn_ended(self, record: TurnRecord, end: Mapping[str, Any]) -> None:
        if (meter := self._meters.pop(record.id, None)) is not None:
            self._add_calls(record.session, record.id, meter.end(time.monotonic()))
        self._store_own(record.session, lambda: self._store.log.end_turn(record.id, end))
        self._store_own(record.session, lambda: self._sessions.keep(record.session))
        self._store_safely(record.session, lambda: self._sessions.turn_ended(record.session, record.id, end))

    def _add_usage(self, session: Session, turn_id: str, event: events.Answered) -> None:
        model, purpose, seconds, stop, usage = event.model, event.purpose, event.seconds, event.stop, event.usage
        folder = self._sessions.rows.first_folder()
        workspace = "" if folder is None else str(folder)
        row = UsageRow(session.id, turn_id, model, purpose, time.time(), seconds, stop, usage, workspace)
        add_usage(self._store.file, row)

    def _add_calls(self, session: Session, turn_id: str, calls: Sequence[CallFigures]) -> None:
        if calls:
            self._store_safely(
                session,
                lambda: self._store.file.write(
                    lambda connection: tool_calls.add_tool_calls(connection, session.id, turn_id, time.time(), calls)
                ),
            )

    def _begin(self, session: Session, turn: TurnRow) -> None:
        self._sessions.keep(session)
        self._store.log.begin_turn(turn)

    def _store_own(self, session: Session, work: Callable[[], Any]) -> None:
        """Stores something, unless another process took the session over."""
        if self._sessions.live.is_ours(session):
            self._store_safely(session, work)

    def _store_safely(self, session: Session, work: Callable[[], Any]) -> None:
        try:
            work()
        except SessionHeld as error:
            self._sessions.lose(session.id, error.holder)
        except Exception as error:  # a turn must not end because it cannot be stored
            log.exception("not stored: something of %s", session.id)
            if not self._warned:
                self._warned = True
                self._warn(f"Tark: not all of this session is stored ({type(error).__name__}: {error})")


def _turn_row(record: TurnRecord) -> TurnRow:
    """The row of a turn. Also sets the session's title, if it has none."""
    session, request = record.session, record.request
    if not session.title:
        about = record.target.name if record.target is not None else ""
        session.title = first_words(request.prompt) or first_words(f"{record.kind.name} {about}")
    shown = request.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"prompt", "context"})
    kind, model = record.kind.name, request.model or session.model
    return TurnRow(record.id, session.id, request.prompt, kind, model, time.time(), request=shown)
