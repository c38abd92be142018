"""ObservedTurn: what the observers in this package need of a turn. The server's `TurnRecord` has it."""

from typing import Protocol

from tark_lsp.agent.session import Session


class ObservedTurn(Protocol):
    """A turn, from its command to its end."""

    @property
    def id(self) -> str: ...
    @property
    def session(self) -> Session: ...
