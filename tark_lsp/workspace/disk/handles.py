"""Files below one folder, opened by handle: a path that is swapped for a link meanwhile leads nowhere else."""

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from secrets import token_hex
from typing import Protocol, Self

from tark_lsp.errors import FileMissing, NotText, OutsideWorkspace, WorkspaceError, WriteFailed

Ready = Callable[[], bool]
"""Asked right before a file is changed: may it still be?"""
TAKEN = "there is something at the new place already"
TEMPORARY = f".tark-{'[0-9a-f]' * 16}.tmp"
"""A glob of the names that new texts have until they get those of their files. A killed server may leave one."""


@dataclass(frozen=True, slots=True)
class File:
    """A regular file as it was read through one handle."""

    data: bytes
    status: os.stat_result


class Folder(Protocol):
    """One folder of the workspace. `relative` is below it, without links and without `..`.

    All raise OSError, and WorkspaceError for what is not a regular file (NotText), too big (FileTooLarge), or no
    longer as expected (StaleText). None waits: FIFOs and devices are refused, not read.
    """

    path: Path

    def read(self, relative: PurePath, cap: int) -> File:
        """The whole file, `cap` bytes at most."""
        ...

    def create(self, relative: PurePath, data: bytes, ready: Ready, mode: int | None = None) -> None:
        """A new file, whole or not at all, with the folders it needs. StaleText if there is one.

        `mode` (its permission bits count) is that of a file that comes back; a new one has what the system gives it.
        """
        ...

    def replace(self, relative: PurePath, data: bytes, expected: bytes, ready: Ready) -> str:
        """Other bytes for a file that holds `expected`, at once and with its mode; gives what could not be kept."""
        ...

    def remove(self, relative: PurePath, expected: bytes, ready: Ready) -> None:
        """Remove a file that holds `expected`."""
        ...

    def move(self, relative: PurePath, into: Self, target: PurePath, expected: bytes, ready: Ready) -> str:
        """A file that holds `expected` comes to be `target` below `into`, mode and all, with the folders it needs.

        Gives what could not be kept, which on one file system is nothing. WriteFailed where anything is at the target.
        """
        ...


def temporary_name() -> str:
    return f".tark-{token_hex(8)}.tmp"


def open_folder(path: Path) -> Folder:
    """`path` is absolute and has no links in it; the folder need not exist yet."""
    if os.name == "nt":
        from tark_lsp.workspace.disk.handles_windows import WindowsFolder

        return WindowsFolder(path)
    from tark_lsp.workspace.disk.handles_posix import PosixFolder

    return PosixFolder(path)


FAILURES: dict[int, tuple[type[WorkspaceError], str]] = {
    errno.ENOENT: (FileMissing, "no such file"),
    errno.ENOTDIR: (FileMissing, "no such file"),
    errno.ENAMETOOLONG: (FileMissing, "no such file: the name is too long"),
    errno.ELOOP: (OutsideWorkspace, "there is a link in the path that was not there before, or that leads nowhere"),
    errno.EXDEV: (OutsideWorkspace, "the path leads out of the workspace"),
    errno.EAGAIN: (OutsideWorkspace, "the folders on the path keep changing"),
    errno.EISDIR: (NotText, "a directory"),
    errno.ENXIO: (NotText, "not a regular file"),
    errno.ENOSPC: (WriteFailed, "the disk is full"),
    errno.EDQUOT: (WriteFailed, "the disk quota is used up"),
    errno.EROFS: (WriteFailed, "the file system is read-only"),
}


def failure(error: OSError, shown: str, *, writing: bool = False) -> WorkspaceError:
    """The error of ours for one of the system's, with the path as people see it."""
    kind, reason = FAILURES.get(
        error.errno or 0, (WriteFailed if writing else WorkspaceError, error.strerror or "failed")
    )
    return kind(f"{shown}: {reason}")
