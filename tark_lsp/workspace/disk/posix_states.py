"""Reads and replaces what is at a name in an open directory: files, links and folders, with their modes."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from tark_lsp.errors import StaleText, WriteFailed
from tark_lsp.workspace.disk.folder import TAKEN, temporary_name
from tark_lsp.workspace.disk.hashing import hash_descriptor, write_all
from tark_lsp.workspace.disk.posix_files import NEW, READ, locked
from tark_lsp.workspace.disk.renaming import rename_no_replace
from tark_lsp.workspace.file_state import FileState, StateKind, kind_of, stamp_content

ONLY_PATH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC


def read_state(parent: int, name: str, *, by_stamp: bool = False) -> FileState | None:
    """None if nothing is there. A file that cannot be read, or `by_stamp`, has the content `stamp_content`."""
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        kind = kind_of(status.st_mode)
        if kind is StateKind.LINK:
            return FileState.of_link(os.fsencode(os.readlink(name, dir_fd=parent)))
        if kind is not StateKind.FILE:
            return FileState(kind, stat.S_IMODE(status.st_mode) if kind is StateKind.FOLDER else 0)
        mode = stat.S_IMODE(status.st_mode)
        if by_stamp:
            return FileState(kind, mode, stamp_content(status))
        try:
            descriptor = os.open(name, READ, dir_fd=parent)
        except PermissionError:
            return FileState(kind, mode, stamp_content(status))
    except FileNotFoundError:
        return None
    try:
        return FileState(kind, mode, hash_descriptor(descriptor))
    finally:
        os.close(descriptor)


def write_state(parent: int, name: str, now: FileState | None, wanted: FileState | None, source: Path | None) -> None:
    """Put `wanted` where `now` is; None: nothing. `source` has the bytes of a file, which are checked.

    Raises StaleText if something other than `now` is there, WriteFailed, OSError.
    """
    if wanted is not None and wanted.kind is StateKind.FILE and not _same_bytes(now, wanted):
        if source is None:
            raise WriteFailed("no copy of what it was is kept")
        with source.open("rb", buffering=0) as copy:
            _write_file(parent, name, now, wanted, copy.fileno())
        return
    with locked(parent):
        _require(parent, name, now)
        if _same_bytes(now, wanted):
            assert wanted is not None
            _set_mode(parent, name, wanted.mode)
            return
        if now is not None:
            _remove(parent, name, now)
        if wanted is None:
            return
        if wanted.kind is StateKind.LINK:
            os.symlink(wanted.link_target, name, dir_fd=parent)
        elif wanted.kind is StateKind.FOLDER:
            os.mkdir(name, 0o700, dir_fd=parent)
            _set_mode(parent, name, wanted.mode)
        else:
            raise WriteFailed("it was neither a file nor a link or a folder")


def _same_bytes(now: FileState | None, wanted: FileState | None) -> bool:
    """Do the states differ only in the mode, or not at all?"""
    if now is None or wanted is None or now.kind is not wanted.kind or now.kind is StateKind.OTHER:
        return False
    return now.content == wanted.content


def _write_file(parent: int, name: str, now: FileState | None, wanted: FileState, source: int) -> None:
    """Write the file completely or not at all: under another name, which is then renamed."""
    temporary = temporary_name()
    descriptor = os.open(temporary, NEW, 0o600, dir_fd=parent)
    try:
        try:
            if hash_descriptor(source, lambda piece: write_all(descriptor, piece)) != wanted.digest:
                raise WriteFailed("the copy of what it was is damaged")
            os.fchmod(descriptor, wanted.mode)
        finally:
            os.close(descriptor)
        with locked(parent):
            _require(parent, name, now)
            if now is not None and now.kind is StateKind.FOLDER:
                _remove(parent, name, now)
                now = None
            if now is not None:
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
                return
            try:
                rename_no_replace(parent, temporary, parent, name)
            except FileExistsError as error:
                raise StaleText(TAKEN) from error
    finally:
        with suppress(FileNotFoundError):  # it was renamed, as it should be
            os.unlink(temporary, dir_fd=parent)


def _require(parent: int, name: str, now: FileState | None) -> None:
    by_stamp = now is not None and now.kind is StateKind.FILE and now.digest is None
    if read_state(parent, name, by_stamp=by_stamp) != now:
        raise StaleText("it was changed meanwhile")


def _remove(parent: int, name: str, now: FileState) -> None:
    if now.kind is StateKind.FOLDER:
        os.rmdir(name, dir_fd=parent)
    else:
        os.unlink(name, dir_fd=parent)


def _set_mode(parent: int, name: str, mode: int) -> None:
    """Set the mode, also of a file that cannot be opened. Does not follow links."""
    descriptor = os.open(name, ONLY_PATH, dir_fd=parent)
    try:
        if stat.S_ISLNK(os.fstat(descriptor).st_mode):
            return
        Path(f"/proc/self/fd/{descriptor}").chmod(mode)
    finally:
        os.close(descriptor)
