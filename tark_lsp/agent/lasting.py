"""LastingPermissions: what the user allowed for longer than a session. `server/` implements it; agent does no I/O."""

from collections.abc import Sequence
from typing import Protocol

from tark_lsp.agent.grants import Grant


class LastingPermissions(Protocol):
    """For the workspace of one turn. All of it is looked up each time, because it can be revoked meanwhile."""

    def grants(self) -> Sequence[Grant]: ...

    def keep(self, grant: Grant) -> str:
        """Store a grant for always. Returns why it could not be stored; empty if it is."""
        ...

    def is_trusted(self) -> bool: ...

    def can_ask_trust(self) -> bool:
        """Whether the user was not asked yet, and can be."""
        ...

    async def ask_trust(self) -> bool:
        """Ask the user, if that can be done, whether they trust the workspace; returns whether they do."""
        ...


class NothingLasts:
    """Where nothing is stored: no grants, no trust."""

    def grants(self) -> Sequence[Grant]:
        return ()

    def keep(self, grant: Grant) -> str:  # noqa: ARG002  # the signature of the protocol
        return "nothing is stored here"

    def is_trusted(self) -> bool:
        return False

    def can_ask_trust(self) -> bool:
        return False

    async def ask_trust(self) -> bool:
        return False
