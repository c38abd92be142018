"""What the observers here see of a turn: the server's own record of it fits."""

from typing import Protocol

from tark_lsp.agent.session import Session


class Observed(Protocol):
    """One turn, from its command to its end."""

    @property
    def id(self) -> str: ...
    @property
    def session(self) -> Session: ...
