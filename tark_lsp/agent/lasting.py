"""LastingPermissions: permissions that last longer than a session. `server/` implements it: `agent/` does no I/O."""

from collections.abc import Sequence
from typing import Protocol

from tark_lsp.agent.grants import Grant


class LastingPermissions(Protocol):
    """The permissions for the workspace of one turn. They are read each time, because the user can revoke them."""

    def grants(self) -> Sequence[Grant]: ...

    def keep(self, grant: Grant) -> str:
        """Store a grant of the scope `always`. Returns why it could not be stored; empty if it was."""
        ...

    def is_trusted(self) -> bool: ...

    def can_ask_trust(self) -> bool:
        """Whether the user can be asked about trust, and was not asked yet."""
        ...

    async def ask_trust(self) -> bool:
        """Ask the user, if possible, whether they trust the workspace. Returns whether they do."""
        ...


class NothingLasts:
    """Stores nothing: there are no grants, and no trust."""

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
