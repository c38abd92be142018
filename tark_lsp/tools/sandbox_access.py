"""`SandboxAccess`: gives the commands of a turn access to the sandbox."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported only with the first command that can run in it
    from tark_lsp.sandbox.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class SandboxAccess:
    """`find`: returns None if the settings disable the sandbox, or it could not be set up for this workspace.

    `give_up`: makes `find` return None from now on.
    """

    find: "Callable[[], Sandbox | None]" = lambda: None
    give_up: Callable[[], None] = lambda: None


NO_SANDBOX = SandboxAccess()
