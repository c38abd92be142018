"""The workspace of each turn: the open folders, else the folder of its document, or only the document."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from tark_lsp.errors import OutsideWorkspace
from tark_lsp.folders import own_folders, private_paths
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.connection.editors import ClientInfo
from tark_lsp.workspace.files import Buffers, Workspace
from tark_lsp.workspace.private import PrivatePaths
from tark_lsp.workspace.workspace_folders import is_too_wide


class OneDocument(Workspace):
    """A workspace of one open document, whose folder is not a project."""

    def __init__(self, document: Path, buffers: Buffers, own: Sequence[Path], private: PrivatePaths) -> None:
        super().__init__((), buffers, own, private)
        self._document = document

    def resolve(self, path: str) -> Path:
        if Path(os.path.realpath(self._document.parent / path)) == self._document:
            return self._document
        raise OutsideWorkspace(
            f"{path} is not {self._document.name}, the one open document, and no folder is open",
            hint="use only that document, or ask the person to open a folder in the editor",
        )

    def is_inside(self, path: Path) -> bool:
        return path == self._document

    def display(self, path: Path) -> str:
        return path.name if path == self._document else path.as_posix()


class TurnWorkspaces:
    """`whole` is the server's workspace. While no folder is open, it has the folders of all turns, because their hunks
    can be decided and undone after they end."""

    def __init__(self, whole: Workspace, buffers: Buffers, configuration: Configuration) -> None:
        self.whole = whole
        self._buffers = buffers
        self._configuration = configuration
        self._folder_is_open = bool(whole.folders)
        self._reported: set[Path] = set()

    @property
    def open_folders(self) -> Sequence[Path]:
        """The folders that are open in the editor."""
        return self.whole.folders if self._folder_is_open else ()

    def change_folders(self, added: Iterable[Path], removed: Iterable[Path]) -> None:
        """Handles that the editor opened and closed folders. The settings are read again, because folders can have
        settings."""
        gone = set(removed)
        self.whole.set_folders([*(folder for folder in self.open_folders if folder not in gone), *added])
        self._folder_is_open = bool(self.whole.folders)
        self._configuration.reload()

    def workspace_of(self, document: Path | None) -> tuple[Workspace, str]:
        """The workspace of a turn about `document`, and a note about it for the user, only once for each folder."""
        if self._folder_is_open:
            return self.whole, ""
        if document is None:
            return Workspace((), self._buffers, private=self.whole.private), ""
        folder = document.parent
        reported = folder in self._reported
        self._reported.add(folder)
        if is_too_wide(folder):
            note = f"no folder is open, and {folder} is too wide to be one: only {document.name} can be read and edited"
            alone = OneDocument(document, self._buffers, self.whole.own, self.whole.private)
            return alone, "" if reported else f"{note}. Open a folder for more"
        if folder not in self.whole.folders:
            self.whole.set_folders([*self.whole.folders, folder])
            self._configuration.reload()
        note = f"no folder is open, so {folder}, where {document.name} is, counts as the workspace of this turn"
        return Workspace([folder], self._buffers, self.whole.own, self.whole.private), "" if reported else note


def open_workspace(client: ClientInfo, buffers: Buffers) -> Workspace:
    """The workspace of the folders that are open in the editor."""
    private = PrivatePaths(Path.home(), private_paths())
    return Workspace(client.folders, buffers, own_folders(), private, in_memory=client.understands("inMemory"))
