"""What happens to the sessions of this server, for those who listen: `sessions.events.listen(listener)`."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """Its title or its settings changed in the store, or it is new."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SessionLost:
    """Another process took over a session with turns that run or wait: they are to be cancelled."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SessionDeleted:
    session_id: str


SessionEvent: TypeAlias = SessionChanged | SessionLost | SessionDeleted
