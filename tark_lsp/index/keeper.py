"""Opens the index on disk, as a reader if another server has its lock, else as writer. Rebuilds a damaged index."""

import contextlib
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tark_lsp.index.cache_folder import ask_for_rebuild, clear, create_private, try_lock
from tark_lsp.index.disk_index import DATABASE, DiskIndex
from tark_lsp.sqlite_file import FileIdentity, file_identity, is_damaged

T = TypeVar("T")

POLL_SECONDS = 1.0
"""How often a reader checks whether it can become the writer, and whether the writer has started over."""
PAUSE_SECONDS = 30.0
"""The time from a failed write to the next attempt."""
BROKEN = ("An IO error occurred", "Data corrupted", "Failed to open file")
"""How tantivy's messages begin if it cannot read a file. It raises ValueError for all errors."""
DAMAGED_NOTE = "the stored index was damaged, or of another version, so it was built again"


class Keeper:
    """`disk` is None if no index can be opened. Then `problem` says why, in a sentence."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: int | None = None
        self._identity: FileIdentity | None = None
        self._next = 0.0
        self.disk: DiskIndex | None = None
        self.problem = ""
        self.note = ""
        """Information for the user that is not a problem."""

    @property
    def writer(self) -> DiskIndex | None:
        """The index, if it can be written now."""
        return self.disk if self.disk is not None and self.disk.writable and not self.problem else None

    @property
    def has_lock(self) -> bool:
        return self._lock is not None

    def ask_for_rebuild(self) -> bool:
        """Make the process that has the lock rebuild the index. False if it cannot be asked."""
        return ask_for_rebuild(self._folder)

    def open(self, *, fresh: bool = False) -> None:
        """Take the lock and open the index; open it as a reader if the lock is taken. `fresh`: remove it first."""
        self._next = time.monotonic() + POLL_SECONDS
        self._close()
        self.problem = ""
        try:
            create_private(self._folder)
            if self._lock is None:
                self._lock = try_lock(self._folder)
            if fresh and self._lock is not None:
                clear(self._folder)
            self.disk = self._opened()
            self._identity = file_identity(self._folder / DATABASE)
        except FileNotFoundError:
            return  # a reader, before the writer has begun
        except (OSError, sqlite3.Error, ValueError) as error:
            self.failed(error)

    def poll(self) -> bool:
        """Retry what is due: a failed write, or taking the lock. True if a different index is open afterwards."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + POLL_SECONDS
        if self.problem:
            self.open()
            return True
        if self._lock is not None:
            return False
        with contextlib.suppress(OSError):
            self._lock = try_lock(self._folder)
        if self._lock is not None or self.disk is None or file_identity(self._folder / DATABASE) != self._identity:
            before = self.disk
            self.open()
            return self.disk is not before
        self.disk.text.reload()
        return False

    def failed(self, error: BaseException) -> None:
        """Report a failed write. The stored index can still be read; `poll` tries again later."""
        self.problem = (
            f"the index cannot be written: {error}; if the disk is full, free some space in {self._folder} "
            "(it tries again by itself)"
        )
        self._next = time.monotonic() + PAUSE_SECONDS

    def retry_soon(self) -> None:
        """Retry at the next `poll` if a write has failed: something has changed that can help."""
        if self.problem:
            self._next = 0.0

    def begin_again(self, note: str) -> None:
        """Remove the stored index, because it is damaged, and start over. `note` is for the user."""
        self.note = note
        self.open(fresh=True)

    def close(self) -> None:
        self._close()

    def _opened(self) -> DiskIndex:
        writable = self._lock is not None
        try:
            return guarded(lambda: DiskIndex(self._folder, writable=writable))
        except FileNotFoundError:
            if not writable:
                raise
        except Exception as error:
            if not writable or not is_ours(error):
                raise
        self.note = DAMAGED_NOTE
        clear(self._folder)
        return guarded(lambda: DiskIndex(self._folder, writable=writable))

    def _close(self) -> None:
        if self.disk is not None:
            self.disk.close()
        self.disk = None


class Damaged(Exception):
    """tantivy could not read a file."""


def guarded(work: Callable[[], T]) -> T:
    """Raises Damaged for a panic of tantivy, which is not an Exception, and for its errors about unreadable files."""
    try:
        return work()
    except ValueError as error:
        if str(error).startswith(BROKEN):
            raise Damaged(str(error)) from error
        raise
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise Damaged(str(error)) from error


def is_ours(error: Exception) -> bool:
    """Whether the error comes from the content of a stored file, not from the disk."""
    if isinstance(error, Damaged) or is_damaged(error):
        return True
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:  # tables of another version
        return True
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return True
    return isinstance(error, ValueError | KeyError | TypeError) or "newer tark-lsp" in str(error)
