"""The sessions in memory, and the messages in each since it was last idle.

A session is *live* while it is in memory. Then this process holds its lease, and only this process writes it. If
another process takes it over while its turns run or wait here, it is *lost* until those turns have ended.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tark_lsp.agent.session import Session
from tark_lsp.messages import Message
from tark_lsp.sessions.rows import TurnRow


@dataclass(slots=True)
class RecentTurns:
    """The turns and messages of a session since it was last idle. `turns` and `ends` are by the turn's id. `messages`
    have the id of their turn and the ids of their calls."""

    turns: dict[str, TurnRow] = field(default_factory=dict)
    ends: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    messages: list[tuple[str, Message, Mapping[str, str]]] = field(default_factory=list)


@dataclass(slots=True)
class LiveSession:
    """`stored`: the session's settings in the store; None until it is stored. `turns`: the ids of turns that run or
    wait. `recent`: the turns and messages since the session was last idle."""

    session: Session
    stored: dict[str, Any] | None = None
    turns: set[str] = field(default_factory=set)
    recent: RecentTurns = field(default_factory=RecentTurns)


class LiveSessions:
    def __init__(self) -> None:
        self._live: OrderedDict[str, LiveSession] = OrderedDict()
        self._lost: dict[str, LiveSession] = {}

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._live

    def all_sessions(self) -> list[Session]:
        """The live sessions. The one that was used last is at the end."""
        return [live.session for live in self._live.values()]

    def add_live(self, live: LiveSession) -> None:
        self._live[live.session.id] = live

    def get_live(self, session_id: str) -> LiveSession | None:
        return self._live.get(session_id)

    def get_session(self, session_id: str) -> Session | None:
        live = self._live.get(session_id)
        return None if live is None else live.session

    def is_ours(self, session: Session) -> bool:
        """Whether this process still holds the session. False if another process took it over while a turn ran."""
        live = self._live.get(session.id)
        return live is not None and live.session is session

    def is_busy(self, session_id: str) -> bool:
        """Whether a turn of the session runs or waits."""
        live = self._live.get(session_id)
        return live is not None and bool(live.turns)

    def mark_used(self, session_id: str) -> None:
        self._live.move_to_end(session_id)

    def remove(self, session_id: str) -> LiveSession | None:
        """Removes a session. If its turns run or wait, returns it, and keeps it as lost until they have ended."""
        live = self._live.pop(session_id, None)
        if live is None or not live.turns:
            return None
        self._lost[session_id] = live
        return live

    def forget_idle(self, most: int) -> list[str]:
        """Forget idle sessions except for the `most` that were used last. Returns the ids of the forgotten ones."""
        idle = [session_id for session_id, live in self._live.items() if live.stored is not None and not live.turns]
        dropped = idle[: max(0, len(idle) - most)]
        for session_id in dropped:
            del self._live[session_id]
        return dropped

    def turn_accepted(self, session: Session, turn: TurnRow) -> None:
        if self.is_ours(session):
            live = self._live[session.id]
            live.turns.add(turn.id)
            live.recent.turns[turn.id] = turn
            self.mark_used(session.id)

    def message_added(self, session: Session, turn_id: str, message: Message, call_ids: Mapping[str, str]) -> None:
        """Remembers a message of a running turn."""
        live = self._of(session)
        if live is not None and turn_id in live.turns:
            live.recent.messages.append((turn_id, message, call_ids))

    def turn_ended(self, session: Session, turn_id: str, end: Mapping[str, Any]) -> RecentTurns | None:
        """Removes the turn. If it was the last turn of a lost session, returns the session's recent turns."""
        live = self._of(session)
        if live is None or turn_id not in live.turns:
            return None
        live.turns.discard(turn_id)
        live.recent.ends[turn_id] = end
        if live.turns:
            return None
        recent, live.recent = live.recent, RecentTurns()
        if self._lost.get(session.id) is not live:
            return None
        del self._lost[session.id]
        return recent

    def _of(self, session: Session) -> LiveSession | None:
        """The live or lost session."""
        both = (self._live.get(session.id), self._lost.get(session.id))
        return next((live for live in both if live is not None and live.session is session), None)
