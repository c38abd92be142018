"""`Folder` on Linux and macOS: every access starts at a handle of the folder and ends at a handle of the file."""

import errno
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import Self

from tark_lsp.errors import StaleText, WriteFailed
from tark_lsp.workspace.disk.folder import TAKEN, File, Ready
from tark_lsp.workspace.disk.openat import DIRECTORY, Opener
from tark_lsp.workspace.disk.posix_files import (
    READ,
    copy_metadata,
    locked,
    read_descriptor,
    remove_leftovers,
    remove_unchanged,
    require_content,
    require_ready,
    require_same_file,
    temporary_file,
    verify_written,
)
from tark_lsp.workspace.disk.posix_states import read_state, write_state
from tark_lsp.workspace.disk.renaming import rename_no_replace
from tark_lsp.workspace.file_state import FileState

FOLDER = os.O_RDONLY | os.O_DIRECTORY
NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""Errors if the folder of a path does not exist: nothing is there, or a file or a link."""


class PosixFolder:
    """See `Folder`."""

    def __init__(self, path: Path, opener: Opener | None = None) -> None:
        self.path = path
        self._opener = opener or Opener()
        self._handles: dict[tuple[int, int], int] = {}
        self._cleaned: set[tuple[int, int]] = set()
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._handles)

    def read(self, relative: PurePath, cap: int) -> File:
        descriptor = self._opener.open(self._root(), relative.parts, READ)
        return read_descriptor(descriptor, cap)

    def create(self, relative: PurePath, data: bytes, ready: Ready, mode: int | None = None) -> None:
        with self._parent(relative, create=True) as parent:
            self._clean_up(parent)
            with temporary_file(parent, data, 0o666) as (name, descriptor):
                if mode is not None:
                    os.fchmod(descriptor, mode & 0o777)
                os.fsync(descriptor)
                require_ready(ready)
                try:
                    rename_no_replace(parent, name, parent, relative.name)
                except FileExistsError as error:
                    raise StaleText("a file with this name exists now") from error
                os.fsync(parent)
                verify_written(parent, relative.name, data)

    def move(self, relative: PurePath, into: Self, target: PurePath, expected: bytes, ready: Ready) -> str:
        with self._parent(relative) as parent:
            before = require_content(parent, relative.name, expected)
            with into._parent(target, create=True) as other:
                require_ready(ready)
                try:
                    rename_no_replace(parent, relative.name, other, target.name)
                except FileExistsError as error:
                    raise WriteFailed(TAKEN) from error
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    into._clean_up(other)
                    return _move_by_copy(parent, relative.name, other, target.name, before, ready)
                try:
                    require_content(other, target.name, expected)
                except StaleText:
                    # The file was changed between the check and the rename: move it back.
                    rename_no_replace(other, target.name, parent, relative.name)
                    raise
                os.fsync(parent)
                os.fsync(other)
        return ""

    def replace(self, relative: PurePath, data: bytes, expected: bytes, ready: Ready) -> str:
        with self._parent(relative) as parent:
            before = require_content(parent, relative.name, expected)
            if not os.access(
                relative.name, os.W_OK, dir_fd=parent, effective_ids=os.access in os.supports_effective_ids
            ):
                raise WriteFailed("the file is read-only")
            self._clean_up(parent)
            with temporary_file(parent, data, 0o600) as (name, descriptor):
                note = copy_metadata(parent, relative.name, before.status, descriptor)
                os.fsync(descriptor)
                require_ready(ready)
                # The slow part is over: only microseconds are between this check and the rename.
                with locked(parent):
                    require_same_file(parent, relative.name, before)
                    os.rename(name, relative.name, src_dir_fd=parent, dst_dir_fd=parent)
                    verify_written(parent, relative.name, data)
                os.fsync(parent)
        return note

    def remove(self, relative: PurePath, expected: bytes, ready: Ready) -> None:
        with self._parent(relative) as parent:
            require_ready(ready)
            with locked(parent):
                remove_unchanged(parent, relative.name, expected)
            os.fsync(parent)

    def state(self, relative: PurePath, *, by_stamp: bool = False) -> FileState | None:
        try:
            with self._parent(relative) as parent:
                return read_state(parent, relative.name, by_stamp=by_stamp)
        except OSError as error:
            if error.errno in NOT_THERE:
                return None
            raise

    def put(self, relative: PurePath, now: FileState | None, wanted: FileState | None, source: Path | None) -> None:
        with self._parent(relative) as parent:
            write_state(parent, relative.name, now, wanted, source)

    def _root(self) -> int:
        """The handle of the folder. It is reopened only if another folder has taken its place."""
        status = self.path.lstat()
        key = (status.st_dev, status.st_ino)
        with self._lock:
            if key in self._handles:
                return self._handles[key]
            top = os.open(self.path.anchor, DIRECTORY)
            try:
                handle = self._opener.open(top, self.path.parts[1:], DIRECTORY)
            finally:
                os.close(top)
            opened = os.fstat(handle)
            # Another thread may be using an older handle, so all stay open as long as this object lives.
            return self._handles.setdefault((opened.st_dev, opened.st_ino), handle)

    @contextmanager
    def _parent(self, relative: PurePath, *, create: bool = False) -> Iterator[int]:
        """A handle of the folder that the file is in."""
        if create:
            self._make_folders(relative.parent.parts)
        descriptor = self._opener.open(self._root(), relative.parent.parts, FOLDER)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _clean_up(self, parent: int) -> None:
        """Remove files of killed servers. Only before the first write in a folder, since it lists the whole folder."""
        status = os.fstat(parent)
        key = (status.st_dev, status.st_ino)
        if key not in self._cleaned:
            with locked(parent):
                remove_leftovers(parent)
            self._cleaned.add(key)

    def _make_folders(self, names: tuple[str, ...]) -> None:
        for count in range(1, len(names) + 1):
            above = self._opener.open(self._root(), names[: count - 1], DIRECTORY)
            try:
                with suppress(FileExistsError):  # if it is not a folder, opening the parent fails
                    os.mkdir(names[count - 1], dir_fd=above)
            finally:
                os.close(above)


def _close_all(handles: dict[tuple[int, int], int]) -> None:
    while handles:
        os.close(handles.popitem()[1])


def _move_by_copy(parent: int, name: str, other: int, new: str, before: File, ready: Ready) -> str:
    """Move to another file system: the copy is written and compared before the original is removed."""
    with temporary_file(other, before.data, 0o600) as (temporary, descriptor):
        note = copy_metadata(parent, name, before.status, descriptor)
        os.fsync(descriptor)
        require_ready(ready)
        try:
            rename_no_replace(other, temporary, other, new)
        except FileExistsError as error:
            raise WriteFailed(TAKEN) from error
        os.fsync(other)
        verify_written(other, new, before.data)
        try:
            require_same_file(parent, name, before)
            os.unlink(name, dir_fd=parent)
        except (OSError, StaleText):
            os.unlink(new, dir_fd=other)
            raise
        os.fsync(parent)
    return note
