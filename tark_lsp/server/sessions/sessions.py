"""The sessions of this server: begun, taken up from the store, held against other processes, and let go of again.

A session is *live* while it is in memory: then this process holds its lease and is the only one that writes it.
Longer than other files, since all that decides whose a session is stands together.
"""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.agent.session import Session
from tark_lsp.errors import RequestError
from tark_lsp.messages import Message
from tark_lsp.server.sessions.retention import retire
from tark_lsp.server.sessions.titles import first_words, title_of_fork
from tark_lsp.sessions.rows import Holder, SessionHeld, SessionRow, TurnRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.sessions.usage import usage_total
from tark_lsp.settings import Settings

MOST_LIVE = 50
"""Idle ones that were not used for longest are on disk alone, and taken up again when they are used."""
BEAT_SECONDS = 5.0


@dataclass(slots=True)
class Live:
    """A session in memory. `stored`: its settings as they are in the store, None before it is there; `turns`: the ids
    of those that run or wait."""

    session: Session
    stored: dict[str, Any] | None = None
    turns: set[str] = field(default_factory=set)


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
        self.defaults: dict[str, Any] = {}
        """What the person set for new sessions, until exit."""
        self.lost: Callable[[str], object] = lambda _: None
        """Called with the id of a session with turns that another process took over: they are to be cancelled."""
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
        session = self.fresh()
        session.title = title
        session.messages.extend(messages)
        self._live[session.id] = Live(session)
        self._drop_idle()
        return session

    def fresh(self) -> Session:
        """As a new one would be, but nobody's."""
        settings, defaults = self._settings(), self.defaults
        return Session(
            new_session_id(),
            defaults.get("model", settings.model),
            defaults.get("mode", settings.mode),
            defaults.get("approval", settings.approval),
            defaults.get("thinking", settings.thinking),
        )

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
        """Raises RequestError for an id that is none."""
        live = self._live.get(session_id)
        row = self.store.session(session_id) if live is None or live.stored is not None else self.new_row(live.session)
        if row is None:
            raise RequestError(f"sessionId: there is no session {session_id!r}")
        return row

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

    def goes_on(self, session: Session) -> bool:
        """May it be used as it is in memory?"""
        return self.is_ours(session) and self.hold(self.row(session.id)) is None

    def peek(self, session_id: str) -> Session:
        """To look at. Raises RequestError where there is none."""
        row = self.row(session_id)
        return self.find(session_id) or self._read(row)

    def keep(self, session: Session) -> None:
        """Into the store where it is new, and what was set since. Raises SessionHeld."""
        if not self.is_ours(session):
            return
        live, now = self._live[session.id], _columns(session)
        if live.stored is None:
            self.store.create(self.new_row(session), session.messages)
            self._begin_to_beat()
            self._retire_soon()
        elif live.stored != now:
            self.store.change(session.id, **dict(now.items() - live.stored.items()))
        live.stored = now

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

    def end_of(self, turn_id: str) -> tuple[str, Mapping[str, Any]]:
        """How a turn of another server ended, and what it is called. Raises RequestError where there is none."""
        turn = self.turn(turn_id)
        if turn.end is None:
            holder = self.hold(self.row(turn.session_id))
            if holder is not None:
                raise RequestError(f"turnId: it runs in another editor (process {holder.pid})")
            turn = self.turn(turn_id)
        assert turn.end is not None, "a turn that runs nowhere was ended when its session was taken up"
        return first_words(turn.prompt) or turn.kind.title(), turn.end

    def forget(self, session_id: str) -> None:
        """It was deleted."""
        self._live.pop(session_id, None)

    # While turns run

    def accepted(self, session: Session, turn_id: str) -> None:
        """Of a session from `new` or `use`."""
        if self.is_ours(session):
            self._live[session.id].turns.add(turn_id)
            self._live.move_to_end(session.id)

    def ended(self, session: Session, turn_id: str) -> None:
        """The last turn of one that was lost: what this process has of it is kept as another session."""
        if self.is_ours(session):
            self._live[session.id].turns.discard(turn_id)
            self._drop_idle()
        torn = self._torn.get(session.id)
        if torn is None or torn.session is not session:
            return
        torn.turns.discard(turn_id)
        if not torn.turns:
            del self._torn[session.id]
            copy = self.new(title_of_fork(session.title), session.messages)
            self.keep(copy)
            self._tell(f"Tark: what was said here in the session “{session.title}” is kept as “{copy.title}”.")

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

    def _take_up(self, row: SessionRow) -> None:
        cut = self.store.mend(row.id)
        session = self._read(row)
        self._live[row.id] = Live(session, _columns(session))
        self._drop_idle()
        for turn in cut:
            title = first_words(turn.prompt) or turn.kind
            self._tell(f"Tark: “{title}” was cut off when its server ended. What it had done until then is kept.")

    def _read(self, row: SessionRow) -> Session:
        history = self.store.history(row.id)
        return Session(
            row.id,
            row.model,
            row.mode,
            row.approval,
            row.thinking,
            list(history.messages),
            usage=usage_total(self.store.read, session_id=row.id).usage,
            shortened=history.shortened,
            title=row.title,
        )

    def new_row(self, session: Session) -> SessionRow:
        """Of one that is to be stored now."""
        now = time.time()
        return SessionRow(
            session.id,
            session.title,
            now,
            now,
            tuple(self.folders()),
            session.model,
            session.mode,
            session.approval,
            session.thinking,
        )

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


def new_session_id() -> str:
    return f"session-{secrets.token_hex(6)}"


def held(holder: Holder | None) -> RequestError:
    who = "another editor" if holder is None else f"another editor (process {holder.pid})"
    return RequestError(f"{who} has this session open: fork it, or close it there")


def settings_json(session: Session) -> dict[str, Any]:
    return {
        "model": session.model,
        "mode": session.mode,
        "approval": session.approval,
        "thinking": session.thinking,
    }


def _columns(session: Session) -> dict[str, Any]:
    """What may change of it, as the store's columns are called."""
    return {"title": session.title, **settings_json(session)}
