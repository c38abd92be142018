"""Single steps on files inside an open directory (`parent` is its descriptor): read, compare, lock, write, keep."""

import errno
import fcntl
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import filter as matching

from tark_lsp.errors import FileTooLarge, NotText, StaleText, WorkspaceError, WriteFailed
from tark_lsp.workspace.disk.folder import TEMPORARY, File, Ready, temporary_name
from tark_lsp.workspace.disk.renaming import rename_no_replace

READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Do not wait for the other end of a FIFO, and do not make a terminal the controlling terminal."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
LOCK_SECONDS = 2.0
LOCK_PAUSE_SECONDS = 0.002
NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF)
"""Errors of file systems that have no locks, or (NFS) lock only files that are open for writing."""


def read_descriptor(descriptor: int, cap: int) -> File:
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


def require_content(parent: int, name: str, expected: bytes) -> File:
    """Raises StaleText if the file does not hold `expected`."""
    changed = StaleText("the file has changed on disk")
    try:
        file = read_descriptor(os.open(name, READ, dir_fd=parent), len(expected))
    except FileTooLarge as error:
        raise changed from error
    if file.data != expected:
        raise changed
    return file


def require_same_file(parent: int, name: str, before: File) -> None:
    """Raises StaleText if the file does not hold the bytes of `before`, or another file has its name now."""
    if not os.path.samestat(require_content(parent, name, before.data).status, before.status):
        raise StaleText("the file was replaced meanwhile")


def verify_written(parent: int, name: str, data: bytes) -> None:
    """Raises WriteFailed if the file that was just written does not hold `data`."""
    try:
        require_content(parent, name, data)
    except (StaleText, FileNotFoundError) as error:
        raise WriteFailed("something else wrote the file at the same moment") from error


def remove_unchanged(parent: int, name: str, expected: bytes) -> None:
    """Remove the file if it holds `expected`, otherwise raise StaleText. The caller holds the lock of the directory.

    The user can save another file under this name at any moment. So the file gets another name before the check that
    counts, and its old name again if it is not the expected one.
    """
    require_content(parent, name, expected)
    aside = temporary_name()
    rename_no_replace(parent, name, parent, aside)
    try:
        require_content(parent, aside, expected)
    except (OSError, WorkspaceError):
        try:
            rename_no_replace(parent, aside, parent, name)
        except FileExistsError:  # it was saved twice: the later file replaces the one before
            os.unlink(aside, dir_fd=parent)
        raise
    os.unlink(aside, dir_fd=parent)


def require_ready(ready: Ready) -> None:
    if not ready():
        raise StaleText("the file was opened in the editor meanwhile")


@contextmanager
def locked(parent: int) -> Iterator[None]:
    """Lock the directory against other servers between the check of a file and its replacement or removal.

    Without the lock, two servers lost up to one in twenty edits of the same file. Raises StaleText after
    `LOCK_SECONDS`. If the file system has no such locks, there is only the check.
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
def temporary_file(parent: int, data: bytes, mode: int) -> Iterator[tuple[str, int]]:
    """A temporary file that holds `data`: its name and descriptor. It is removed at the end unless it was renamed.

    It is created while the directory is locked, and stays locked as long as its server lives. So an unlocked file was
    left by a killed server.
    """
    name = temporary_name()
    with locked(parent):
        descriptor = os.open(name, NEW, mode, dir_fd=parent)
        with suppress(OSError):  # a file system without locks: then no process gets a lock to clean up, either
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        with open(descriptor, "wb", buffering=0, closefd=False) as stream:
            view = memoryview(data)
            while view:
                view = view[stream.write(view) :]
        yield name, descriptor
    finally:
        os.close(descriptor)
        with suppress(FileNotFoundError):  # it was renamed, as it should be
            os.unlink(name, dir_fd=parent)


def remove_leftovers(parent: int) -> None:
    """Remove the temporary files of killed servers. The caller holds the lock of the directory."""
    for name in matching(os.listdir(parent), TEMPORARY):
        with suppress(OSError):  # another server is writing it, or it belongs to another user
            descriptor = os.open(name, READ, dir_fd=parent)
            try:
                status = os.fstat(descriptor)
                if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(name, dir_fd=parent)
            finally:
                os.close(descriptor)


def copy_metadata(parent: int, name: str, before: os.stat_result, descriptor: int) -> str:
    """Give the new file the owner, extended attributes and mode of the old one. Returns what could not be kept."""
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
    """Copy access lists and the user's own attributes. The kernel sets the labels of security modules."""
    source = os.open(name, READ, dir_fd=parent)
    try:
        for key in os.listxattr(source):
            if key.startswith(("user.", "system.posix_acl_")):
                os.setxattr(descriptor, key, os.getxattr(source, key))
    except OSError as error:
        return error.errno == errno.EOPNOTSUPP  # a file system without attributes has none to lose
    finally:
        os.close(source)
    return True
