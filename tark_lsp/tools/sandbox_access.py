"""How a turn's commands reach the sandbox."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when the first command could run in it
    from tark_lsp.sandbox.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class SandboxAccess:
    """`find` gives None if the settings turn the sandbox off, or it could not be set up for this workspace.

    `give_up`: from now on `find` gives None.
    """

    find: "Callable[[], Sandbox | None]" = lambda: None
    give_up: Callable[[], None] = lambda: None


NO_SANDBOX = SandboxAccess()
