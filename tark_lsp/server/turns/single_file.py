"""What a turn may touch where the editor has no folder open: the folder of its document, or that document alone."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from tark_lsp.errors import OutsideWorkspace
from tark_lsp.workspace.files import Buffers, Workspace


class OneDocument(Workspace):
    """A workspace of one open document, whose folder is no project."""

    def __init__(self, document: Path, buffers: Buffers, own: Sequence[Path]) -> None:
        super().__init__((), buffers, own)
        self._document = document

    def resolve(self, path: str) -> Path:
        if Path(os.path.realpath(self._document.parent / path)) == self._document:
            return self._document
        raise OutsideWorkspace(
            f"{path} is not {self._document.name}, the one open document, and no folder is open",
            hint="do with that document, or ask the person to open a folder in the editor",
        )

    def is_inside(self, path: Path) -> bool:
        return path == self._document

    def display(self, path: Path) -> str:
        return path.name if path == self._document else path.as_posix()


class SingleFiles:
    """The workspace of each turn while no folder is open. The server's own one, `wide`, then holds all their folders,
    since their hunks can be decided and undone when they are over."""

    def __init__(self, wide: Workspace, buffers: Buffers, changed: Callable[[], None]) -> None:
        """`changed()`: a folder came to `wide`, which may have settings of its own."""
        self._wide = wide
        self._buffers = buffers
        self._changed = changed
        self.folder_is_open = bool(wide.folders)
        self._told: set[Path] = set()

    def workspace(self, document: Path | None) -> tuple[Workspace, str]:
        """And what the person is to be told about it, once for each folder; empty: nothing."""
        if self.folder_is_open:
            return self._wide, ""
        if document is None:
            return Workspace((), self._buffers), ""
        folder = document.parent
        told = folder in self._told
        self._told.add(folder)
        if is_too_wide(folder):
            note = f"no folder is open, and {folder} is too wide to be one: only {document.name} can be read and edited"
            alone = OneDocument(document, self._buffers, self._wide.own)
            return alone, "" if told else f"{note}. Open a folder for more"
        if folder not in self._wide.folders:
            self._wide.set_folders([*self._wide.folders, folder])
            self._changed()
        note = f"no folder is open, so {folder}, where {document.name} is, counts as the workspace of this turn"
        return Workspace([folder], self._buffers, self._wide.own), "" if told else note


def is_too_wide(folder: Path) -> bool:
    """The home folder, and whatever holds it: the root, above all."""
    return Path(os.path.realpath(Path.home())).is_relative_to(folder)
