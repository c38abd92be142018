"""The sandboxes of this server, one for each set of workspace folders."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.folders import caches_folder, private_paths, state_folder

if TYPE_CHECKING:  # imported when the first command could run in a sandbox
    from tark_lsp.sandbox.sandbox import Sandbox


class Sandboxes:
    def __init__(self) -> None:
        self._made: dict[tuple[Path, ...], Sandbox] = {}
        self._given_up: set[Path] = set()

    def sandbox_of(self, folders: Sequence[Path]) -> "Sandbox | None":
        """The sandbox; None without folders, or after `give_up` of one of them."""
        key = tuple(folders)
        if not self._given_up.isdisjoint(key):
            return None
        if key and key not in self._made:
            from tark_lsp.sandbox.planning import Places
            from tark_lsp.sandbox.sandbox import Sandbox

            places = Places(Path.home(), caches_folder(), state_folder(), private_paths())
            self._made[key] = Sandbox(places, folders)
        return self._made.get(key)

    def give_up(self, folders: Sequence[Path]) -> None:
        """Runs no further commands of these folders in a sandbox."""
        self._given_up.update(folders)
