"""Events of the sessions of this server: `sessions.events.listen(listener)`."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """The session is new in the store, or its title or settings changed there."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SessionLost:
    """Another process took over a session with turns that run or wait. These turns must be cancelled."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SessionDeleted:
    session_id: str


SessionEvent: TypeAlias = SessionChanged | SessionLost | SessionDeleted
