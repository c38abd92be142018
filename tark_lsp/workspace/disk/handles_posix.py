"""`Folder` on Linux and macOS: every access starts at a handle of the folder and ends at a handle of the file.

Longer than most: what is written, under which lock, and what a killed write left are one order of steps, read as one.
"""

import errno
import fcntl
import os
import stat
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import filter as matching
from pathlib import Path, PurePath
from typing import Self

from tark_lsp.errors import FileTooLarge, NotText, StaleText, WriteFailed
from tark_lsp.workspace.disk.beneath import DIRECTORY, Opener
from tark_lsp.workspace.disk.handles import TAKEN, TEMPORARY, File, Ready, temporary_name
from tark_lsp.workspace.disk.renaming import rename_new

READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Never waits for the other end of a FIFO, and takes no terminal."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FOLDER = os.O_RDONLY | os.O_DIRECTORY
LOCK_SECONDS = 2.0
LOCK_PAUSE_SECONDS = 0.002
NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF)
"""What file systems without locks answer, and those (NFS) that lock only what is open for writing."""


class PosixFolder:
    """See `Folder`."""

    def __init__(self, path: Path, opener: Opener | None = None) -> None:
        self.path = path
        self._opener = opener or Opener()
        self._handles: dict[tuple[int, int], int] = {}
        self._cleared: set[tuple[int, int]] = set()
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._handles)

    def read(self, relative: PurePath, cap: int) -> File:
        descriptor = self._opener.open(self._root(), relative.parts, READ)
        return _read(descriptor, cap)

    def create(self, relative: PurePath, data: bytes, ready: Ready, mode: int | None = None) -> None:
        with self._parent(relative, create=True) as parent:
            self._clear_up(parent)
            with _temporary(parent, data, 0o666) as (name, descriptor):
                if mode is not None:
                    os.fchmod(descriptor, mode & 0o777)
                os.fsync(descriptor)
                _check(ready)
                try:
                    rename_new(parent, name, parent, relative.name)
                except FileExistsError as error:
                    raise StaleText("there is such a file by now") from error
                os.fsync(parent)
                _verify(parent, relative.name, data)

    def move(self, relative: PurePath, into: Self, target: PurePath, expected: bytes, ready: Ready) -> str:
        with self._parent(relative) as parent:
            before = _expect(parent, relative.name, expected)
            with into._parent(target, create=True) as other:
                _check(ready)
                try:
                    rename_new(parent, relative.name, other, target.name)
                except FileExistsError as error:
                    raise WriteFailed(TAKEN) from error
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    into._clear_up(other)
                    return _move_by_copy(parent, relative.name, other, target.name, before, ready)
                try:
                    _expect(other, target.name, expected)
                except StaleText:
                    # It was changed between the look and the rename: it goes back to who changed it.
                    rename_new(other, target.name, parent, relative.name)
                    raise
                os.fsync(parent)
                os.fsync(other)
        return ""

    def replace(self, relative: PurePath, data: bytes, expected: bytes, ready: Ready) -> str:
        with self._parent(relative) as parent:
            before = _expect(parent, relative.name, expected)
            if not os.access(
                relative.name, os.W_OK, dir_fd=parent, effective_ids=os.access in os.supports_effective_ids
            ):
                raise WriteFailed("the file is read-only")
            self._clear_up(parent)
            with _temporary(parent, data, 0o600) as (name, descriptor):
                note = _keep(parent, relative.name, before.status, descriptor)
                os.fsync(descriptor)
                _check(ready)
                # The slow part is over: what is left between this look and the rename is microseconds.
                with _alone(parent):
                    again = _expect(parent, relative.name, expected)
                    if not os.path.samestat(again.status, before.status):
                        raise StaleText("the file was replaced meanwhile")
                    os.rename(name, relative.name, src_dir_fd=parent, dst_dir_fd=parent)
                    _verify(parent, relative.name, data)
                os.fsync(parent)
        return note

    def remove(self, relative: PurePath, expected: bytes, ready: Ready) -> None:
        with self._parent(relative) as parent:
            _check(ready)
            with _alone(parent):
                _expect(parent, relative.name, expected)
                os.unlink(relative.name, dir_fd=parent)
            os.fsync(parent)

    def _root(self) -> int:
        """The handle of the folder, opened anew only where another folder has taken its place."""
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
            # Another thread may be using an older handle, so that one is only closed with this object.
            return self._handles.setdefault((opened.st_dev, opened.st_ino), handle)

    @contextmanager
    def _parent(self, relative: PurePath, *, create: bool = False) -> Iterator[int]:
        """A handle of the folder the file is in."""
        if create:
            self._make_folders(relative.parent.parts)
        descriptor = self._opener.open(self._root(), relative.parent.parts, FOLDER)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _clear_up(self, parent: int) -> None:
        """Remove what killed servers have left in a folder, before the first write there only: it is listed whole."""
        status = os.fstat(parent)
        key = (status.st_dev, status.st_ino)
        if key not in self._cleared:
            with _alone(parent):
                _remove_left(parent)
            self._cleared.add(key)

    def _make_folders(self, names: tuple[str, ...]) -> None:
        for count in range(1, len(names) + 1):
            above = self._opener.open(self._root(), names[: count - 1], DIRECTORY)
            try:
                with suppress(FileExistsError):  # What is there is looked at when the parent is opened.
                    os.mkdir(names[count - 1], dir_fd=above)
            finally:
                os.close(above)


def _close_all(handles: dict[tuple[int, int], int]) -> None:
    while handles:
        os.close(handles.popitem()[1])


def _read(descriptor: int, cap: int) -> File:
    """Read a descriptor to its end and close it."""
    with open(descriptor, "rb", buffering=0) as stream:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise NotText("a directory")
        if not stat.S_ISREG(status.st_mode):
            raise NotText("not a regular file")
        if status.st_size <= cap:
            parts = []
            size = 0
            while size <= cap and (part := stream.read(cap + 1 - size)):
                parts.append(part)
                size += len(part)
            if size <= cap:
                return File(b"".join(parts), status)
        raise FileTooLarge(f"larger than {cap // 1_000_000} MB")


def _expect(parent: int, name: str, expected: bytes) -> File:
    changed = StaleText("the file has changed on disk")
    try:
        file = _read(os.open(name, READ, dir_fd=parent), len(expected))
    except FileTooLarge as error:
        raise changed from error
    if file.data != expected:
        raise changed
    return file


def _verify(parent: int, name: str, data: bytes) -> None:
    try:
        _expect(parent, name, data)
    except (StaleText, FileNotFoundError) as error:
        raise WriteFailed("something else wrote the file at the same moment") from error


def _check(ready: Ready) -> None:
    if not ready():
        raise StaleText("the file was opened in the editor meanwhile")


@contextmanager
def _alone(parent: int) -> Iterator[None]:
    """No other server of ours replaces or removes a file of the folder between its look and its deed meanwhile.

    Without it two of them lost up to one in twenty edits of the same file. Raises StaleText where it is not to be had.
    Where the file system has no such locks, the look has to do.
    """
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(parent, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > until:
                raise StaleText("another editor is writing in its folder") from error
            time.sleep(LOCK_PAUSE_SECONDS)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            yield
            return
        else:
            break
    try:
        yield
    finally:
        fcntl.flock(parent, fcntl.LOCK_UN)


@contextmanager
def _temporary(parent: int, data: bytes, mode: int) -> Iterator[tuple[str, int]]:
    """A file with `data` beside the one to be, gone at the end unless it was renamed.

    It is locked as long as its server lives, and made while the folder is: so what is found there unlocked is nobody's.
    """
    name = temporary_name()
    with _alone(parent):
        descriptor = os.open(name, NEW, mode, dir_fd=parent)
        with suppress(OSError):  # a file system without locks: nobody gets one to clear up, either
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        with open(descriptor, "wb", buffering=0, closefd=False) as stream:
            view = memoryview(data)
            while view:
                view = view[stream.write(view) :]
        yield name, descriptor
    finally:
        os.close(descriptor)
        with suppress(FileNotFoundError):  # It was renamed: all is well.
            os.unlink(name, dir_fd=parent)


def _remove_left(parent: int) -> None:
    """The folder is locked."""
    for name in matching(os.listdir(parent), TEMPORARY):
        with suppress(OSError):  # one that is being written, or that is not ours to touch
            descriptor = os.open(name, READ, dir_fd=parent)
            try:
                status = os.fstat(descriptor)
                if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(name, dir_fd=parent)
            finally:
                os.close(descriptor)


def _move_by_copy(parent: int, name: str, other: int, new: str, before: File, ready: Ready) -> str:
    """To another file system: the copy is there and compared before the first one goes."""
    with _temporary(other, before.data, 0o600) as (temporary, descriptor):
        note = _keep(parent, name, before.status, descriptor)
        os.fsync(descriptor)
        _check(ready)
        try:
            rename_new(other, temporary, other, new)
        except FileExistsError as error:
            raise WriteFailed(TAKEN) from error
        os.fsync(other)
        _verify(other, new, before.data)
        try:
            again = _expect(parent, name, before.data)
            if not os.path.samestat(again.status, before.status):
                raise StaleText("the file was replaced meanwhile")
            os.unlink(name, dir_fd=parent)
        except (OSError, StaleText):
            os.unlink(new, dir_fd=other)
            raise
        os.fsync(parent)
    return note


def _keep(parent: int, name: str, before: os.stat_result, descriptor: int) -> str:
    """Give the new file what the old one has: owner, attributes, mode; tells what could not be kept."""
    lost = []
    fresh = os.fstat(descriptor)
    if (fresh.st_uid, fresh.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except PermissionError:
            lost.append("its owner or group")
    if sys.platform == "linux" and not _copy_attributes(parent, name, descriptor):
        lost.append("its extended attributes")
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode) & (0o777 if lost else 0o7777))
    if before.st_nlink > 1:
        lost.append(f"its {before.st_nlink - 1} other hard link(s), which still have the old text")
    return f"the file could not keep {' and '.join(lost)}" if lost else ""


def _copy_attributes(parent: int, name: str, descriptor: int) -> bool:
    """Access lists and the person's own attributes; labels of security modules are the kernel's to give."""
    source = os.open(name, READ, dir_fd=parent)
    try:
        for key in os.listxattr(source):
            if key.startswith(("user.", "system.posix_acl_")):
                os.setxattr(descriptor, key, os.getxattr(source, key))
    except OSError as error:
        return error.errno == errno.EOPNOTSUPP  # A file system without attributes has none to lose.
    finally:
        os.close(source)
    return True
