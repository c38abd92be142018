"""WorkspaceFolders: which paths are inside the workspace, their displayed names, and the handles that open them."""

import os
from collections.abc import Sequence
from pathlib import Path, PurePath

from tark_lsp.errors import OutsideWorkspace
from tark_lsp.workspace.disk.folder import Folder
from tark_lsp.workspace.disk.memory_folder import MemoryFolder
from tark_lsp.workspace.disk.opening import open_folder
from tark_lsp.workspace.names import check_name
from tark_lsp.workspace.protected import is_protected_path


class WorkspaceFolders:
    """All methods except `resolve` take resolved paths."""

    def __init__(self, folders: Sequence[Path], own: Sequence[Path], *, in_memory: bool = False) -> None:
        """`own`: the folders of the user's settings and of Tark's state, which are protected if the workspace has them.
        `in_memory`: changes of files are kept in memory.
        """
        self.paths = tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))
        self.own = own
        self._names = _unique_names(self.paths)
        # If one folder is inside another, the inner one comes first.
        disks = [open_folder(folder) for folder in sorted(self.paths, key=lambda folder: -len(folder.parts))]
        self.memories = [MemoryFolder(disk) for disk in disks] if in_memory else []
        self._opened: Sequence[Folder] = self.memories or disks

    def resolve(self, path: str) -> Path:
        """See `Workspace.resolve`."""
        if not self.paths:
            raise OutsideWorkspace("no folder is open", hint="open a folder in the editor")
        name, colon, rest = path.partition(":")
        named = [folder for folder, known in self._names.items() if colon and known == name]
        inner = rest if named else path
        check_name(inner, windows=os.name == "nt")
        # `folder / inner` is `inner` if that is an absolute path.
        resolved = [Path(os.path.realpath(folder / inner)) for folder in named or self.paths]
        inside = [candidate for candidate in resolved if self.is_inside(candidate)]
        if not inside:
            raise OutsideWorkspace(
                f"{path} is outside the workspace",
                hint="use a path inside " + ", ".join(folder.as_posix() for folder in self.paths),
            )
        return next(filter(os.path.lexists, inside), inside[0])

    def display(self, path: Path) -> str:
        """See `Workspace.display`."""
        inside = [folder for folder in self.paths if path.is_relative_to(folder)]
        if not inside:
            return path.as_posix()
        folder = max(inside, key=lambda folder: len(folder.parts))
        relative = path.relative_to(folder).as_posix()
        return relative if len(self.paths) == 1 else f"{self._names[folder]}:{relative}"

    def is_inside(self, path: Path) -> bool:
        return ".." not in path.parts and any(path.is_relative_to(folder) for folder in self.paths)

    def is_protected(self, path: Path) -> bool:
        """See `Workspace.is_protected`."""
        names = {path, Path(os.path.realpath(path))}
        return any(name.is_relative_to(folder) for name in names for folder in self.own) or any(
            is_protected_path(name.relative_to(folder))
            for name in names
            for folder in self.paths
            if name.is_relative_to(folder)
        )

    def locate(self, path: Path) -> tuple[Folder, PurePath]:
        """The innermost folder that contains the path, and the path inside it. Raises OutsideWorkspace."""
        if ".." not in path.parts:
            for folder in self._opened:
                if path.is_relative_to(folder.path):
                    return folder, path.relative_to(folder.path)
        raise OutsideWorkspace(f"{path} is outside the workspace")


def is_too_wide(folder: Path) -> bool:
    """Is it the home folder, or does it contain the home folder, like the root?"""
    return Path(os.path.realpath(Path.home())).is_relative_to(folder)


def _unique_names(folders: Sequence[Path]) -> dict[Path, str]:
    """The name of each folder; the second folder of the same name gets `-2`, and so on."""
    names: dict[Path, str] = {}
    for folder in folders:
        same = sum(known.name == folder.name for known in names)
        names[folder] = folder.name if not same else f"{folder.name}-{same + 1}"
    return names
