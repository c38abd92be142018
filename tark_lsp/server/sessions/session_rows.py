"""The stored sessions, with the mode and approval level that apply to them now."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tark_lsp.agent.session import Session
from tark_lsp.errors import RequestError
from tark_lsp.server.sessions.live import LiveSessions
from tark_lsp.server.sessions.new_sessions import NewSessions
from tark_lsp.sessions.rows import Holder, SessionRow, TurnRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.sessions.usage import usage_total

Effective: TypeAlias = Callable[[SessionRow], Mapping[str, Any]]
"""The fields of a session's JSON with the effective settings of its agent."""


class SessionRows:
    def __init__(
        self, store: SessionStore, live: LiveSessions, new_sessions: NewSessions, effective: Effective
    ) -> None:
        self._effective = effective
        self._store = store
        self._live = live
        self._beginnings = new_sessions

    def find_row(self, session_id: str) -> SessionRow:
        """Raises RequestError for an unknown id."""
        live = self._live.get_live(session_id)
        if live is not None and live.stored is None:
            return self._beginnings.row(live.session)
        row = self._store.find_session(session_id)
        if row is None:
            raise RequestError(f"sessionId: there is no session {session_id!r}")
        return self.as_used(row)

    def as_used(self, row: SessionRow) -> SessionRow:
        """A row of the store, with the mode and level with which the session continues."""
        return row if row.id in self._live else self._beginnings.tightened(row)

    def is_here(self, row: SessionRow) -> bool:
        """Whether the session belongs to this workspace."""
        ours = set(self._beginnings.folders)
        return row.id in self._live or (not ours and not row.folders) or bool(ours.intersection(row.folders))

    def read_session(self, session_id: str) -> Session:
        """The session, for reading and not to continue it. Raises RequestError for an unknown id."""
        row = self.find_row(session_id)
        return self._live.get_session(session_id) or session_from_store(self._store, row)

    def find_turn(self, turn_id: str) -> TurnRow:
        """A turn of any server. Raises RequestError for an unknown id."""
        turn = self._store.log.find_turn(turn_id)
        if turn is None:
            raise RequestError(f"turnId: there is no turn {turn_id!r}")
        return turn

    def first_folder(self) -> Path | None:
        return next(iter(self._beginnings.folders), None)

    def json(self, row: SessionRow, holder: Holder | None = None) -> dict[str, Any]:
        """The JSON of the session for clients."""
        from tark_lsp.server.sessions.session_json import session_json  # not needed in the terminal

        return {**session_json(row, read_only=not self.is_here(row), holder=holder), **self._effective(row)}


def session_from_store(store: SessionStore, row: SessionRow) -> Session:
    """The stored session, with the settings of `row`."""
    from tark_lsp.sessions.deferred_tools import deferred_of  # not needed for new sessions

    history, used = store.log.history(row.id), usage_total(store.file.read, session_id=row.id).usage
    modes = (row.mode, row.approval, row.thinking)
    messages = list(history.messages)
    session = Session(row.id, row.model, *modes, messages, usage=used, shortened=history.shortened, title=row.title)
    session.deferred, session.agent = deferred_of(store.file, row.id), row.agent
    return session
