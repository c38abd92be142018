"""`Folder` whose changes stay in memory. Reading sees them as if they were on disk, and nothing is written."""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Self

from tark_lsp.errors import FileTooLarge, NotText, StaleText, WriteFailed
from tark_lsp.workspace.closed_files import LARGEST_FILE
from tark_lsp.workspace.disk.folder import TAKEN, File, Folder, Ready
from tark_lsp.workspace.file_state import FileState

NEW_FILE_MODE = 0o644


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """`mode` has the permission bits."""

    data: bytes
    mode: int


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """None: there was, or is, no file."""

    path: Path
    before: MemoryFile | None
    after: MemoryFile | None


class MemoryFolder:
    """See `Folder`. `disk` is only read."""

    def __init__(self, disk: Folder) -> None:
        self.path = disk.path
        self._disk = disk
        self._before: dict[PurePath, MemoryFile | None] = {}
        self._now: dict[PurePath, MemoryFile | None] = {}

    def changes(self) -> Iterator[MemoryChange]:
        """The files that differ from what they were on disk when they were first changed, by their paths."""
        for relative in sorted(self._now):
            before, now = self._before[relative], self._now[relative]
            if before != now:
                yield MemoryChange(self.path / relative, before, now)

    def read(self, relative: PurePath, cap: int) -> File:
        if relative not in self._now:
            return self._disk.read(relative, cap)
        file = self._now[relative]
        if file is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(relative))
        if len(file.data) > cap:
            raise FileTooLarge(f"larger than {cap // 1_000_000} MB")
        return File(file.data, os.stat_result((stat.S_IFREG | file.mode, *[0] * 9)))

    def create(self, relative: PurePath, data: bytes, ready: Ready, mode: int | None = None) -> None:
        if self._exists(relative):
            raise StaleText("a file with this name exists now")
        self._keep(relative, data, NEW_FILE_MODE if mode is None else mode, ready)

    def replace(self, relative: PurePath, data: bytes, expected: bytes, ready: Ready) -> str:
        self._keep(relative, data, self._required(relative, expected), ready)
        return ""

    def remove(self, relative: PurePath, expected: bytes, ready: Ready) -> None:
        self._required(relative, expected)
        self._set(relative, None, ready)

    def move(self, relative: PurePath, into: Self, target: PurePath, expected: bytes, ready: Ready) -> str:
        mode = self._required(relative, expected)
        if into._exists(target):
            raise WriteFailed(TAKEN)
        into._keep(target, expected, mode, ready)
        self._set(relative, None, ready)
        return ""

    def state(self, relative: PurePath, *, by_stamp: bool = False) -> FileState | None:  # noqa: ARG002  # see Folder
        raise NotText("its changes are in memory, and no command runs")

    def put(self, relative: PurePath, now: FileState | None, wanted: FileState | None, source: Path | None) -> None:  # noqa: ARG002  # see Folder
        raise WriteFailed("its changes are in memory, and no command runs")

    def _keep(self, relative: PurePath, data: bytes, mode: int, ready: Ready) -> None:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotText("it is not UTF-8, so a diff cannot show its changes", hint="use a UTF-8 file") from error
        self._set(relative, MemoryFile(data, mode), ready)

    def _set(self, relative: PurePath, file: MemoryFile | None, ready: Ready) -> None:
        if not ready():
            raise StaleText("the file was opened in the editor meanwhile")
        if relative not in self._before:
            self._before[relative] = self._on_disk(relative)
        self._now[relative] = file

    def _on_disk(self, relative: PurePath) -> MemoryFile | None:
        try:
            file = self._disk.read(relative, LARGEST_FILE)
        except FileNotFoundError:
            return None
        return MemoryFile(file.data, stat.S_IMODE(file.status.st_mode))

    def _required(self, relative: PurePath, expected: bytes) -> int:
        """The mode of the file that holds `expected`. Raises StaleText if it holds anything else."""
        try:
            file = self.read(relative, len(expected))
        except FileTooLarge as error:
            raise StaleText("the file has changed on disk") from error
        if file.data != expected:
            raise StaleText("the file has changed on disk")
        return stat.S_IMODE(file.status.st_mode)

    def _exists(self, relative: PurePath) -> bool:
        if relative in self._now:
            return self._now[relative] is not None
        return os.path.lexists(self.path / relative)
