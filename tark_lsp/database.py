"""A SQLite database that continues to work when its file fails.

| the file | what happens |
|---|---|
| another process writes it | SQLite waits, for `BUSY_SECONDS`; after that it counts as unwritable |
| is damaged | it is put aside under another name, and a new file is created |
| was removed or put aside by another process | the file that is there now is opened, or a new one created |
| is full or unwritable, or a newer tark-lsp wrote it | the database is in memory until `return_to_file` succeeds |

In each case, the next database starts with a copy of the whole file if that is readable and small, else with the rows
that this process needs. The owner is notified.
"""

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:  # sqlite3 is imported when something is stored, not when the server starts
    from sqlite3 import Connection

    from tark_lsp.sqlite_file import FileIdentity

CHECKPOINT_WRITES = 250
"""After this many writes, a thread copies the write-ahead log into the file, so commits need not wait for the disk."""
FREED_PAGES = 1_000
"""4 MiB."""
MOST_FILES = 2
"""If this many files fail in a row, the database continues in memory."""
RETRY_SECONDS = 5.0
"""The file is tried again at most this often: an attempt can write everything and still fail."""
T = TypeVar("T")


class Layout(NamedTuple):
    """`tables` are the statements that create the tables of a new file, `version` is its `user_version`."""

    version: int
    tables: Sequence[str]


class Database:
    """For use on one thread. Nothing is opened, created or imported before the first use."""

    def __init__(
        self,
        locate: Callable[[], Path],
        layout: Layout,
        carry: "Callable[[Connection, Connection], bool]",
        failed: Callable[[str, bool, bool], None],
    ) -> None:
        """`locate()` returns the file, whose folder exists. If it raises OSError, the database is in memory.

        `carry(old, new)` copies the rows that this process needs, in a transaction of `new`, and returns whether it
        could read all of them. `failed(problem, lost, in_memory)` is called after each failure; `lost`: not all rows
        could be read; `in_memory`: there is no new file.
        """
        self._locate = locate
        self._layout = layout
        self._carry = carry
        self._failed = failed
        self.in_memory = False
        self._open: list[Connection] = []
        """At most one connection: a list, so that it can be closed when this object is collected."""
        self._old: list[Connection] = []
        """At most one connection: to the file that failed, until its rows are copied."""
        self._path = Path()
        self._identity: FileIdentity | None = None
        """Which file was opened last at `_path`, or was tried."""
        self._copyable = False
        """The file that failed is not damaged, so it can be copied."""
        self._complete = True
        """Nothing was lost in the last copy."""
        self._retry_at = 0.0
        """By the monotonic clock."""
        self._problems: list[str] = []
        self._writes = 0
        self._checkpoint: threading.Thread | None = None
        weakref.finalize(self, _close, self._open)

    def read(self, sql: str, *values: Any) -> list[Any]:
        return self._run(lambda connection: connection.execute(sql, values).fetchall())

    def write(self, work: "Callable[[Connection], T]") -> T:
        """Run `work` in one transaction. If the file fails, it is run again on the next one."""
        from tark_lsp.sqlite_file import checkpoint_log, in_transaction

        result = self._run(lambda connection: in_transaction(connection, work))
        self._writes += 1
        idle = self._checkpoint is None or not self._checkpoint.is_alive()
        if self._writes >= CHECKPOINT_WRITES and idle and not self.in_memory:
            self._writes = 0
            self._checkpoint = threading.Thread(target=checkpoint_log, args=(self._path,), name="tark-checkpoint")
            self._checkpoint.start()
        return result

    def free_pages(self) -> None:
        """Give some of the space of deleted rows back to the file system; the rest is used for new rows."""
        # Not `execute`, which runs only one step of a statement without columns: here, this is one page.
        script = f"PRAGMA incremental_vacuum({FREED_PAGES})"
        self._run(lambda connection: connection.executescript(script))

    def return_to_file(self, *, force: bool = False) -> bool:
        """Leave memory if the file can be used again: copy the rows of this process there, and return True.

        `force`: try now, and wait for other processes that write. What `carry` raises is raised, and nothing changes.
        After rows were lost on the way to memory it is not tried: the file can still have them.
        """
        import sqlite3

        from tark_lsp.sqlite_file import BUSY_SECONDS

        now = time.monotonic()
        if not (self.in_memory and self._open and self._complete) or (now < self._retry_at and not force):
            return False
        self._retry_at = now + RETRY_SECONDS
        try:
            self._go_on_with(self._open_file(BUSY_SECONDS if force else 0.0), self._open[0])
        except (sqlite3.Error, OSError):
            return False  # the user was told when the database went to memory
        self.in_memory = False
        return True

    def close(self) -> None:
        """Close the database. The next use opens the file again. Rows that are only in memory are lost."""
        if self._checkpoint is not None:
            self._checkpoint.join()
        _close(self._open)

    def _run(self, work: "Callable[[Connection], T]") -> T:
        import sqlite3

        from tark_lsp.sqlite_file import is_unusable

        for files_left in range(MOST_FILES, -1, -1):
            opened = False
            try:
                connection = self._connect()
                opened = True
                return work(connection)
            except (sqlite3.Error, OSError) as error:
                if self.in_memory or (opened and not is_unusable(error)):
                    raise
                self._abandon(error, last=files_left == 1)
        raise AssertionError("memory is always available")

    def _connect(self) -> "Connection":
        """The open connection, to the file that is at its path now."""
        from tark_lsp.sqlite_file import BUSY_SECONDS, copy_file, file_identity, open_memory

        if self._open and not self.in_memory and file_identity(self._path) != self._identity:
            self._problems.append("it was put aside or removed by another program")
            self._old += self._open
            self._open.clear()
        if not self._open:
            old = self._old[0] if self._old else None
            if not self.in_memory:
                connection = self._open_file(BUSY_SECONDS)
            else:
                connection = open_memory(*self._layout)
                if self._copyable and copy_file(self._path, connection, self._layout.version):
                    old = None
            self._go_on_with(connection, old)
            if self._problems:
                problems = "; ".join(self._problems)
                self._problems.clear()
                self._failed(problems, not self._complete, self.in_memory)
        return self._open[0]

    def _open_file(self, busy_seconds: float) -> "Connection":
        from tark_lsp.sqlite_file import file_identity, open_file

        self._path = self._locate()
        self._identity = file_identity(self._path)
        connection = open_file(self._path, *self._layout, busy_seconds)
        self._identity = file_identity(self._path)  # it may be new
        return connection

    def _go_on_with(self, connection: "Connection", old: "Connection | None") -> None:
        """Copy the rows of this process from `old`, then close what was open before."""
        from tark_lsp.sqlite_file import BUSY_SECONDS, in_transaction, set_busy_timeout

        try:
            self._complete = old is None or in_transaction(connection, lambda new: self._carry(old, new))
            set_busy_timeout(connection, BUSY_SECONDS)
        except BaseException:  # raised again
            connection.close()
            raise
        _close(self._open)
        _close(self._old)
        self._open.append(connection)

    def _abandon(self, error: Exception, *, last: bool) -> None:
        """The next database is a new file if this one is damaged and can be put aside, else it is in memory."""
        from tark_lsp.sqlite_file import is_damaged

        self._problems.append(str(error))
        damaged = is_damaged(error)
        self._copyable = not damaged and not self._old
        self._old += self._open
        self._open.clear()
        if last or not damaged or not self._put_aside():
            self.in_memory = True
            self._retry_at = time.monotonic() + RETRY_SECONDS

    def _put_aside(self) -> bool:
        from tark_lsp.sqlite_file import put_aside

        try:
            self._problems.append(f"it was put aside as {put_aside(self._path, self._identity)}")
        except (FileNotFoundError, FileExistsError):
            pass  # another process has put it aside, or is doing so: try the file that is there now
        except OSError as error:
            self._problems.append(str(error))
            return False
        return True


def _close(connections: "list[Connection]") -> None:
    while connections:
        connections.pop().close()
