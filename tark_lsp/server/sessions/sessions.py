"""The sessions of this server: creates them, loads them from the store, and holds and releases their leases.

All code that decides which process owns a session is here.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tark_lsp.agent.session import Session
from tark_lsp.errors import RequestError
from tark_lsp.listeners import Listeners
from tark_lsp.messages import Message
from tark_lsp.server.sessions.events import SessionChanged, SessionEvent, SessionLost
from tark_lsp.server.sessions.live import LiveSession, LiveSessions
from tark_lsp.server.sessions.new_sessions import NewSessions, columns
from tark_lsp.server.sessions.session_rows import Effective, SessionRows, session_from_store
from tark_lsp.server.sessions.taken_over import interrupted_turns, store_apart
from tark_lsp.server.sessions.title_text import title_of_fork
from tark_lsp.server.sessions.upkeep import SessionUpkeep
from tark_lsp.sessions.rows import Holder, SessionHeld, SessionRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.settings import Settings

MOST_LIVE = 50
"""The most idle sessions in memory. The others are only on disk, and are loaded when they are used."""


class Sessions:
    """`live`: the sessions in memory. `rows`: the stored ones. `new_sessions`: creates new ones."""

    def __init__(
        self,
        store: SessionStore,
        settings: Callable[[], Settings],
        folders: Callable[[], Sequence[Path]],
        warn: Callable[[str], None],
        shows_turns: bool = False,
        effective: Effective = lambda _: {},
    ) -> None:
        """`settings()`: the current settings. `folders()`: of the workspace. `warn(message)` shows the user a warning.

        `shows_turns`: the client shows the turns of a session with their errors. `effective`: fields for its JSON.
        """
        self.store = store
        self.live = LiveSessions()
        self.new_sessions = NewSessions(settings, folders)
        self.rows = SessionRows(store, self.live, self.new_sessions, effective)
        self._settings = settings
        self._warn = warn
        self._shows_turns = shows_turns
        self._upkeep = SessionUpkeep(store)
        self.events = Listeners[SessionEvent]()

    def new(self, title: str = "", messages: Sequence[Message] = ()) -> Session:
        """A new session. It is stored when its first turn begins, or by `keep`."""
        session = self.new_sessions.make_session()
        session.title = title
        session.messages.extend(messages)
        self.live.add_live(LiveSession(session))
        self._release_idle()
        return session

    def use(self, session_id: str) -> Session:
        """The session, to continue it. Raises RequestError if it is unknown, belongs to another workspace, or another
        process has it."""
        row = self.rows.find_row(session_id)
        if not self.rows.is_here(row):
            folders = ", ".join(map(str, row.folders)) or "no folder"
            raise RequestError(
                f"sessionId: this session belongs to another workspace ({folders}): fork it to continue here"
            )
        if (holder := self.hold(row)) is not None:
            raise held(holder)
        self.live.mark_used(session_id)
        session = self.live.get_session(session_id)
        assert session is not None, "held just now"
        return session

    def hold(self, row: SessionRow) -> Holder | None:
        """Make the session live. If another process has it, returns that process instead."""
        live = self.live.get_live(row.id)
        if live is not None and live.stored is None:
            return None
        holder = self.store.acquire_lease(row.id)
        if holder is not None:
            self.lose(row.id, holder)
            return holder
        self._upkeep.renew_leases(self.lose)
        if live is None:
            self._load(row)
        return None

    def look(self, row: SessionRow) -> Holder | None:
        """The other process that has the session, if any. If none has it, its interrupted turns are ended, and it stays
        free."""
        if row.id in self.live:
            return self.hold(row)
        if not self.store.log.unended_turns(row.id):
            return self.store.lease_holder(row.id)
        holder = self.store.acquire_lease(row.id)
        if holder is None:
            self._mend(row.id)
            self.store.release_leases(row.id)
        return holder

    def keep(self, session: Session) -> None:
        """Store the session if it is new, or else its changed title and settings. Raises SessionHeld."""
        live, now = self.live.get_live(session.id), columns(session)
        if live is None or live.session is not session or live.stored == now:
            return
        if live.stored is None:
            self.store.create_session(self.new_sessions.row(session), session.messages)
            self._upkeep.renew_leases(self.lose)
            self._upkeep.delete_old(self._settings().sessions.retention_days, self.live)
        else:
            self.store.change_session(session.id, **dict(now.items() - live.stored.items()))
        live.stored = now
        self.events.emit(SessionChanged(session.id))

    def save(self, session: Session) -> None:
        """Like `keep`, for a command. Raises RequestError if another process has the session."""
        try:
            self.keep(session)
        except SessionHeld as error:
            self.lose(session.id, error.holder)
            raise held(error.holder) from error

    def lose(self, session_id: str, holder: Holder | None = None) -> None:
        """Handles that another process took the session over, because this process did not renew its lease in time."""
        live = self.live.remove(session_id)
        if live is None:
            return
        who = f"another editor (process {holder.pid})" if holder is not None else "another editor"
        self._warn(f"Tark: {who} took over the session “{live.session.title}”, so its turn is cancelled here.")
        # Not at once, because this can happen while an event of the turn is handled.
        asyncio.get_running_loop().call_soon(self.events.emit, SessionLost(session_id))

    def turn_ended(self, session: Session, turn_id: str, end: Mapping[str, Any]) -> None:
        """If it was the last turn of a lost session, store the messages from here as another session."""
        recent = self.live.turn_ended(session, turn_id, end)
        if recent is not None:
            title = title_of_fork(session.title)
            copy = replace(self.new_sessions.row(session), id=self.new_sessions.make_session().id, title=title)
            store_apart(self.store, session.id, copy, recent)
            self._warn(f"Tark: what was said here in the session “{session.title}” is kept as “{title}”.")
        self._release_idle()

    async def stop(self) -> None:
        self._upkeep.stop()
        self.store.release_leases()
        self.store.close()

    def _load(self, row: SessionRow) -> None:
        self._mend(row.id)
        stored = self.store.find_session(row.id) or row
        session = session_from_store(self.store, row)
        self.live.add_live(LiveSession(session, columns(stored)))
        self._release_idle()
        if columns(stored) != columns(row):
            self._warn(
                f"Tark: “{row.title}” continues in mode {row.mode} at level {row.approval}, the current settings."
            )
            self.keep(session)

    def _mend(self, session_id: str) -> None:
        """End the interrupted turns of a session whose lease this process just got."""
        turns = self.store.log.repair_turns(session_id)
        message = interrupted_turns((turn, self.store.log.updates(turn.id)) for turn in turns)
        if message and not self._shows_turns:
            self._warn(f"Tark: {message}")

    def _release_idle(self) -> None:
        for session_id in self.live.forget_idle(MOST_LIVE):
            self.store.release_leases(session_id)


def held(holder: Holder | None) -> RequestError:
    error = SessionHeld(holder)
    return RequestError(f"{error.message}: {error.hint}")
