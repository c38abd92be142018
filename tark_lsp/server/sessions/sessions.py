"""The sessions of this server: begun, taken up from the store, held against other processes, and let go of again.

A session is *live* while it is in memory: then this process holds its lease and is the only one that writes it.
All that decides whose a session is stands here together.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tark_lsp.agent.session import Session
from tark_lsp.errors import RequestError
from tark_lsp.messages import Message
from tark_lsp.server.sessions.live import Live, Meanwhile, cut_off, in_memory, keep_apart
from tark_lsp.server.sessions.new_sessions import NewSessions, columns
from tark_lsp.server.sessions.retention import retire
from tark_lsp.server.sessions.titles import title_of_fork
from tark_lsp.sessions.leases import BEAT_SECONDS
from tark_lsp.sessions.rows import Holder, SessionHeld, SessionRow, TurnRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.settings import Settings

MOST_LIVE = 50
"""Idle ones that were not used for longest are on disk alone, and taken up again when they are used."""


class Sessions:
    def __init__(
        self,
        store: SessionStore,
        settings: Callable[[], Settings],
        folders: Callable[[], Sequence[Path]],
        tell: Callable[[str], None],
    ) -> None:
        """`folders()`: those of the workspace; `tell(message)`: what the person must know."""
        self.store = store
        self.beginnings = NewSessions(settings, folders)
        self.lost: Callable[[str], object] = lambda _: None
        """Called with the id of a session with turns that another process took over: they are to be cancelled."""
        self.changed: Callable[[str], object] = lambda _: None
        """Called with the id of a session when its title or settings, as they are stored, are others."""
        self._settings = settings
        self.folders = folders
        self._tell = tell
        self._live: OrderedDict[str, Live] = OrderedDict()
        self._torn: dict[str, Live] = {}
        """Lost to another process, and some turn of it has not ended yet."""
        self._beating: asyncio.Task[None] | None = None
        self._retiring: asyncio.Task[None] | None = None

    # In memory

    def new(self, title: str = "", messages: Sequence[Message] = ()) -> Session:
        """It is in the store from its first turn on, or from `keep`."""
        session = self.beginnings.fresh()
        session.title = title
        session.messages.extend(messages)
        self._live[session.id] = Live(session)
        self._drop_idle()
        return session

    def first_folder(self) -> Path | None:
        return next(iter(self.folders()), None)

    def live(self) -> list[Session]:
        return [each.session for each in self._live.values()]

    def find(self, session_id: str) -> Session | None:
        """Where it is live."""
        live = self._live.get(session_id)
        return None if live is None else live.session

    def is_busy(self, session_id: str) -> bool:
        live = self._live.get(session_id)
        return live is not None and bool(live.turns)

    # In the store

    def row(self, session_id: str) -> SessionRow:
        """As it is gone on with. Raises RequestError for an id that is none."""
        live = self._live.get(session_id)
        if live is not None and live.stored is None:
            return self.beginnings.row(live.session)
        row = self.store.session(session_id)
        if row is None:
            raise RequestError(f"sessionId: there is no session {session_id!r}")
        return self.as_used(row)

    def as_used(self, row: SessionRow) -> SessionRow:
        """One of the store's, with the mode and the level it is gone on with."""
        return row if row.id in self._live else self.beginnings.tightened(row)

    def is_here(self, row: SessionRow) -> bool:
        """Is it of this workspace?"""
        ours = set(self.folders())
        return row.id in self._live or (not ours and not row.folders) or bool(ours.intersection(row.folders))

    def use(self, session_id: str) -> Session:
        """To go on with. Raises RequestError where there is none, or it is of another workspace or held elsewhere."""
        row = self.row(session_id)
        if not self.is_here(row):
            where = ", ".join(map(str, row.folders)) or "no folder"
            raise RequestError(f"sessionId: this session is of another workspace ({where}): fork it to go on here")
        if (holder := self.hold(row)) is not None:
            raise held(holder)
        self._live.move_to_end(session_id)
        return self._live[session_id].session

    def hold(self, row: SessionRow) -> Holder | None:
        """Live and ours from now on, where nobody else has it; else who has it."""
        live = self._live.get(row.id)
        if live is not None and live.stored is None:
            return None
        holder = self.store.take(row.id)
        if holder is not None:
            self.lose(row.id, holder)
            return holder
        self._begin_to_beat()
        if live is None:
            self._take_up(row)
        return None

    def look(self, row: SessionRow) -> Holder | None:
        """Who else has it. Where nobody has, its turns that were cut off are ended; it stays free."""
        if row.id in self._live:
            return self.hold(row)
        if not self.store.unended(row.id):
            return self.store.holder(row.id)
        holder = self.store.take(row.id)
        if holder is None:
            self._mend(row.id)
            self.store.release(row.id)
        return holder

    def peek(self, session_id: str) -> Session:
        """To look at. Raises RequestError where there is none."""
        row = self.row(session_id)
        return self.find(session_id) or in_memory(self.store, row)

    def keep(self, session: Session) -> None:
        """Into the store where it is new, and what was set since. Raises SessionHeld."""
        if not self.is_ours(session):
            return
        live, now = self._live[session.id], columns(session)
        if live.stored == now:
            return
        if live.stored is None:
            self.store.create(self.beginnings.row(session), session.messages)
            self._begin_to_beat()
            self._retire_soon()
        else:
            self.store.change(session.id, **dict(now.items() - live.stored.items()))
        live.stored = now
        self.changed(session.id)

    def save(self, session: Session) -> None:
        """The same, where a person waits for it. Raises RequestError where another process has it."""
        try:
            self.keep(session)
        except SessionHeld as error:
            self.lose(session.id, error.holder)
            raise held(error.holder) from error

    def turn(self, turn_id: str) -> TurnRow:
        """One of any server. Raises RequestError where there is none."""
        turn = self.store.turn(turn_id)
        if turn is None:
            raise RequestError(f"turnId: there is no turn {turn_id!r}")
        return turn

    def forget(self, session_id: str) -> None:
        """It was deleted."""
        self._live.pop(session_id, None)

    # While turns run

    def accepted(self, session: Session, turn: TurnRow) -> None:
        """Of a session from `new` or `use`."""
        if self.is_ours(session):
            live = self._live[session.id]
            live.turns.add(turn.id)
            live.meanwhile.turns[turn.id] = turn
            self._live.move_to_end(session.id)

    def said(self, session: Session, turn_id: str, message: Message, call_ids: Mapping[str, str]) -> None:
        """In a turn of it that runs."""
        live = self._of(session)
        if live is not None and turn_id in live.turns:
            live.meanwhile.messages.append((turn_id, message, call_ids))

    def ended(self, session: Session, turn_id: str, end: Mapping[str, Any]) -> None:
        """The last turn of one that was lost: what this process has of it is kept as another session."""
        live = self._of(session)
        if live is None or turn_id not in live.turns:
            return
        live.turns.discard(turn_id)
        live.meanwhile.ends[turn_id] = end
        if live.turns:
            return
        meanwhile, live.meanwhile = live.meanwhile, Meanwhile()
        if self._torn.get(session.id) is live:
            del self._torn[session.id]
            self._keep_apart(session, meanwhile)
        self._drop_idle()

    def is_ours(self, session: Session) -> bool:
        """Not so: another process took it over while a turn ran."""
        live = self._live.get(session.id)
        return live is not None and live.session is session

    async def stop(self) -> None:
        for task in (self._beating, self._retiring):
            if task is not None:
                task.cancel()
        self.store.release()
        self.store.close()

    def lose(self, session_id: str, holder: Holder | None) -> None:
        """To another process, which found that this one had not said for long that it was there."""
        live = self._live.pop(session_id, None)
        if live is None or not live.turns:
            return
        self._torn[session_id] = live
        who = f"another editor (process {holder.pid})" if holder is not None else "another editor"
        self._tell(f"Tark: {who} took over the session “{live.session.title}”, so its turn is cancelled here.")
        # Not at once: this may be in the middle of a turn's own telling.
        asyncio.get_running_loop().call_soon(self.lost, session_id)

    def _of(self, session: Session) -> Live | None:
        """Live, or lost with turns."""
        both = (self._live.get(session.id), self._torn.get(session.id))
        return next((live for live in both if live is not None and live.session is session), None)

    def _keep_apart(self, session: Session, meanwhile: Meanwhile) -> None:
        title = title_of_fork(session.title)
        copy = replace(self.beginnings.row(session), id=self.beginnings.fresh().id, title=title)
        keep_apart(self.store, session.id, copy, meanwhile)
        self._tell(f"Tark: what was said here in the session “{session.title}” is kept as “{title}”.")

    def _take_up(self, row: SessionRow) -> None:
        self._mend(row.id)
        stored = self.store.session(row.id) or row
        self._live[row.id] = Live(in_memory(self.store, row), columns(stored))
        self._drop_idle()
        if columns(stored) != columns(row):
            self._tell(f"Tark: “{row.title}” goes on in mode {row.mode} at level {row.approval}, as is set now.")
            self.keep(self._live[row.id].session)

    def _mend(self, session_id: str) -> None:
        """One that was taken just now."""
        turns = self.store.mend(session_id)
        told = cut_off((turn, self.store.updates(turn.id)) for turn in turns)
        if told:
            self._tell(f"Tark: {told}")

    def _drop_idle(self) -> None:
        idle = [id_ for id_, live in self._live.items() if live.stored is not None and not live.turns]
        for session_id in idle[: max(0, len(idle) - MOST_LIVE)]:
            del self._live[session_id]
            self.store.release(session_id)

    def _begin_to_beat(self) -> None:
        if self._beating is None:
            self._beating = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        """Say that this process is still there."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            for session_id in self.store.beat():
                self.lose(session_id, None)

    def _retire_soon(self) -> None:
        days = self._settings().sessions.retention_days
        if self._retiring is None and days is not None:
            self._retiring = asyncio.create_task(retire(self.store, days, self._live))


def held(holder: Holder | None) -> RequestError:
    error = SessionHeld(holder)
    return RequestError(f"{error.message}: {error.hint}")
