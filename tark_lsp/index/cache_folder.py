"""The folder of a workspace's index on disk. `index/` in the user's cache folder has one folder for each workspace."""

import contextlib
import errno
import hashlib
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

LOCK = "lock"
"""The process that holds a lock on this file writes the index of the folder."""


def workspace_cache(cache: Path, folders: Sequence[Path]) -> Path:
    """The index folder for a workspace with these folders, in any order. It may not exist yet."""
    names = b"\0".join(sorted(os.fsencode(folder) for folder in folders))
    return cache / hashlib.blake2b(names, digest_size=12).hexdigest()


def create_private(folder: Path) -> None:
    """Create a folder with mode 0700. Raises OSError, also for a symlink: Tark must not change its target."""
    require_no_link(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix":
        folder.chmod(0o700)


def require_no_link(path: Path) -> None:
    """Raises OSError."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "there is a symbolic link in the place of the index", str(path))


def bytes_in(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # another process removed it
                total += Path(root, name).stat().st_size
    return total


def clear(folder: Path) -> None:
    """Remove everything in the folder except the lock, which another process may wait for. Raises OSError."""
    require_no_link(folder)
    for path in folder.iterdir() if folder.exists() else ():
        if path.name == LOCK:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def try_lock(folder: Path) -> int | None:
    """Lock the folder until the returned handle is closed or this process ends. None if another process has the lock.

    Raises OSError if the folder cannot be written.
    """
    require_no_link(folder / LOCK)
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform == "win32":  # untested
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    os.ftruncate(handle, 0)
    os.write(handle, str(os.getpid()).encode())
    return handle


def lock_holder(folder: Path) -> int | None:
    """The id of the process that has the lock. None if no process has it, or if the id cannot be read."""
    try:
        if not (folder / LOCK).exists() or (handle := try_lock(folder)) is None:
            return int((folder / LOCK).read_bytes())
    except (OSError, ValueError):
        return None
    os.close(handle)
    return None


def ask_for_rebuild(folder: Path) -> bool:
    """Make the process that has the lock rebuild the index. False if no process can be asked."""
    holder = lock_holder(folder)
    if holder is None or sys.platform == "win32":
        return False
    try:
        os.kill(holder, signal.SIGUSR1)
    except OSError:
        return False
    return True
