"""Finds the Git repositories of a workspace, and where their indexes and objects are. Runs no program.

An object folder counts only if no sandboxed command can write to it: it is outside the workspace, or inside a `.git`,
which is read-only in the sandbox.
"""

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.workspace.checkpoints.commands.git_index import read_index
from tark_lsp.workspace.checkpoints.commands.git_objects import GitObjects

MOST_STORES, MOST_TEXT, LARGEST_INDEX = 20, 65_536, 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Repository:
    """`tracked`: the object of each tracked regular file, by absolute path."""

    tracked: dict[str, bytes]
    objects: GitObjects


class Repositories:
    """Remembers each index until its file changes. For one thread at a time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, Repository]] = {}

    def find(self, top: str, folders: Sequence[Path], granted: Sequence[Path]) -> Repository | None:
        """The repository whose `.git` is in the folder `top`; None if undo cannot use it.

        A command can write to the workspace `folders`, except to a `.git` in them, and to the `granted` paths.
        """
        try:
            own = _git_folder(Path(top, ".git"))
            common = _named(own / "commondir", own) or own
            stores = [store for store in _stores(common / "objects") if not _is_writable(store, folders, granted)]
            index = own / "index"
            status = index.stat()
            key = (tuple(stores), status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            known = self._known.get(top)
            if known is not None and known[0] == key:
                return known[1]
            if status.st_size > LARGEST_INDEX or not stores or not stat.S_ISREG(status.st_mode):
                return None
            prefix = os.fsencode(top.rstrip(os.sep) + os.sep)
            tracked: dict[str, bytes] = {}
            with contextlib.suppress(ValueError, IndexError):  # what was read counts: files are compared with it
                for entry in read_index(index.read_bytes()):
                    tracked[os.fsdecode(prefix + entry.name)] = entry.object
        except (OSError, ValueError):
            return None
        found = Repository(tracked, GitObjects(stores))
        self._known[top] = key, found
        return found


def folders_with_git(folder: Path) -> Iterator[str]:
    """The nearest folder above a workspace folder that is a repository; none if the folder itself is one."""
    if not os.path.lexists(folder / ".git"):
        above = next((one for one in folder.parents if os.path.lexists(one / ".git")), None)
        if above is not None:
            yield str(above)


def _is_writable(store: Path, folders: Sequence[Path], granted: Sequence[Path]) -> bool:
    if any(store.is_relative_to(path) for path in granted):
        return True
    inside = [folder for folder in folders if store.is_relative_to(folder)]
    return any(".git" not in store.relative_to(folder).parts for folder in inside)


def _git_folder(path: Path) -> Path:
    resolved = path.resolve(strict=True)
    if resolved.is_dir():
        return resolved
    if not resolved.is_file():
        raise ValueError("it is neither a folder nor a file")
    key, _, name = _text(resolved).partition(":")
    if key != "gitdir":
        raise ValueError("it does not name a folder")
    return (resolved.parent / name.strip()).resolve(strict=True)


def _named(file: Path, folder: Path) -> Path | None:
    return (folder / _text(file).rstrip("\r\n")).resolve(strict=True) if file.is_file() else None


def _stores(objects: Path) -> list[Path]:
    """The object folder, and the object folders that it borrows from."""
    found: list[Path] = []
    rest = [objects.resolve(strict=True)]
    while rest and len(found) < MOST_STORES:
        store = rest.pop(0)
        if store in found or not store.is_dir():
            continue
        found.append(store)
        names = store / "info" / "alternates"
        lines = _text(names).splitlines() if names.is_file() else []
        rest += [(store / line).resolve() for line in lines if line and line[0] not in '#"']
    return found


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return os.fsdecode(file.read(MOST_TEXT))
