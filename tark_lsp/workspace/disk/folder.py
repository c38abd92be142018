"""`Folder`: the files inside one folder, opened by handle, so that a path swapped for a link cannot lead elsewhere."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from secrets import token_hex
from typing import Protocol, Self

from tark_lsp.workspace.file_state import FileState

Ready = Callable[[], bool]
"""Called right before a file is changed: is the change still allowed?"""
TAKEN = "there is something at the new place already"
TEMPORARY = f".tark-{'[0-9a-f]' * 16}.tmp"
"""A glob of the temporary names under which new texts are written. A killed server can leave such a file."""


@dataclass(frozen=True, slots=True)
class File:
    """A regular file, read through one handle."""

    data: bytes
    status: os.stat_result


class Folder(Protocol):
    """One folder of the workspace. `relative` is a path inside it, without links and without `..`.

    All methods raise OSError, and WorkspaceError if the file is not a regular file (NotText), is too big (FileTooLarge)
    or has changed (StaleText). No method blocks on a FIFO or a device: these are refused, not read.
    """

    path: Path

    def read(self, relative: PurePath, cap: int) -> File:
        """The whole file, which may have at most `cap` bytes."""
        ...

    def create(self, relative: PurePath, data: bytes, ready: Ready, mode: int | None = None) -> None:
        """Create a file, completely or not at all, with the folders it needs. StaleText if it exists.

        `mode`: the permission bits of a file that is restored. A new file gets the system's default.
        """
        ...

    def replace(self, relative: PurePath, data: bytes, expected: bytes, ready: Ready) -> str:
        """Atomically replace a file that holds `expected`, and keep its mode. Returns what could not be kept."""
        ...

    def remove(self, relative: PurePath, expected: bytes, ready: Ready) -> None:
        """Remove a file that holds `expected`."""
        ...

    def move(self, relative: PurePath, into: Self, target: PurePath, expected: bytes, ready: Ready) -> str:
        """Move a file that holds `expected` to `target` inside `into`, with its mode, and create the folders it needs.

        Returns what could not be kept (nothing within one file system). WriteFailed if the target exists.
        """
        ...

    def state(self, relative: PurePath, *, by_stamp: bool = False) -> FileState | None:
        """What is at the path, without following links; None: nothing. `by_stamp`: do not read files."""
        ...

    def put(self, relative: PurePath, now: FileState | None, wanted: FileState | None, source: Path | None) -> None:
        """Put `wanted` where `now` is; `source` has the bytes of a file. StaleText if something else is there."""
        ...


def temporary_name() -> str:
    return f".tark-{token_hex(8)}.tmp"
