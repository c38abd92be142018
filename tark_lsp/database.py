"""How our SQLite files are opened, written by several processes at once, and gone on without when they cannot be used.

A commit is in the file's write-ahead log when the call returns: ending the process at any moment (kill -9) loses
nothing of it. A failure of the machine may lose the last commits, but no part of one (sqlite.org/wal.html).

What a file cannot do, and what comes of it: it is damaged: put aside under another name, and a new one begun; it was
put aside or removed by somebody else: the one that is there now, or a new one; a newer tark-lsp wrote it, the disk is
full, the folder cannot be written, another process keeps it locked: memory, until this process ends. The rows that
this process needs are carried over each time, and what happened is said.
"""

import os
import stat
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sqlite3 import Connection

BUSY_SECONDS = 2.0
"""How long another process may write: its transactions take milliseconds."""
LOOK_AFTER_WRITES = 64
"""So many commits until the size of the write-ahead log is looked at again."""
CHECKPOINT_BYTES = 4 * 1024**2
"""A write-ahead log as long as this is brought into the file, in a thread: it waits for the disk."""
LONGEST_LOG_PAGES = 16_384
"""At 64 MiB a commit does that itself: the thread does not get it done."""
PRAGMAS = (
    "PRAGMA auto_vacuum = INCREMENTAL",  # only counts before there are tables
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    f"PRAGMA wal_autocheckpoint = {LONGEST_LOG_PAGES}",
)
T = TypeVar("T")


class NewerFile(OSError):
    """A newer tark-lsp wrote the file: it is left alone."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`tables` are statements, run on a file that has none; `version` is its `user_version` from then on."""

    version: int
    tables: Sequence[str]


class Database:
    """For one thread. Nothing is opened, made or imported before it is used."""

    def __init__(
        self,
        locate: Callable[[], Path],
        layout: Layout,
        carry: "Callable[[Connection, Connection], bool]",
        failed: Callable[[str, bool], None],
    ) -> None:
        """`locate()` gives the file, in a folder that is there. Where it raises OSError: in memory.

        `carry(old, new)` copies the rows that this process needs and says whether all of them were there.
        `failed(problem, lost)` is called each time the file could not be used, `lost`: not all of them were.
        """
        self._locate: Callable[[], Path] | None = locate
        self._layout = layout
        self._carry = carry
        self._failed = failed
        self._open: list[Connection] = []
        """At most one; a list, so that it can be closed when this object is gone."""
        self._left: list[Connection] = []
        """Those that cannot be used any more, until their rows are carried over."""
        self._file: tuple[Path, int, int] | None = None
        """The path, device and inode of the open file; None: memory, or nothing is open."""
        self._said: list[str] = []
        self._writes = 0
        self._checkpoint: threading.Thread | None = None
        weakref.finalize(self, _close, self._open)

    @property
    def in_memory(self) -> bool:
        """Whether the file was given up for good."""
        return self._locate is None

    def read(self, sql: str, *values: Any) -> list[Any]:
        return self._do(lambda connection: connection.execute(sql, values).fetchall())

    def write(self, work: "Callable[[Connection], T]") -> T:
        """Do it in one transaction, wholly or not at all; it may be done a second time, on another file."""
        result = self._do(lambda connection: in_one(connection, work))
        self._writes += 1
        if self._writes % LOOK_AFTER_WRITES == 0:
            self._look_at_log()
        return result

    def close(self) -> None:
        """It opens again when it is used again; what was in memory only is gone."""
        if self._checkpoint is not None:
            self._checkpoint.join()
        _close(self._open)
        self._file = None

    def _do(self, work: "Callable[[Connection], T]") -> T:
        import sqlite3

        for _ in range(2):
            try:
                return work(self._current())
            except (sqlite3.Error, OSError) as error:
                if self._locate is None or not _is_of_the_file(error):
                    raise
                self._leave(error)
        self._locate = None  # two files in a row: enough
        return work(self._current())

    def _current(self) -> "Connection":
        """The open connection, to the file that is at its path now."""
        if self._open and self._file is not None and _identity(self._file[0]) != self._file:
            self._said.append("it was put aside or removed by another program")
            self._left += self._open
            self._open.clear()
        if not self._open:
            self._open_next()
        return self._open[0]

    def _open_next(self) -> None:
        if self._locate is None:
            connection, self._file = _prepared(_connect(":memory:"), self._layout), None
        else:
            path = self._locate()
            connection = open_file(path, self._layout)
            self._file = _identity(path)
        whole = True
        try:
            for old in self._left:
                whole = self._carry(old, connection) and whole
        except BaseException:  # raised again
            connection.close()
            raise
        _close(self._left)
        self._open.append(connection)
        if self._said:
            said, self._said = self._said, []
            self._failed("; ".join(said), not whole)

    def _leave(self, error: Exception) -> None:
        """The file is no good: the next to be opened is a new one where it was put aside, else memory."""
        self._said.append(str(error))
        self._left += self._open
        self._open.clear()
        aside = _put_aside(self._locate, self._file) if self._locate is not None and is_damage(error) else None
        if aside is None:
            self._locate = None
        else:
            self._said.append(f"it was put aside as {aside}")

    def _look_at_log(self) -> None:
        if self._file is None or (self._checkpoint is not None and self._checkpoint.is_alive()):
            return
        path = self._file[0]
        try:
            size = path.with_name(f"{path.name}-wal").stat().st_size
        except OSError:  # whoever has the file open last removes its log
            return
        if size >= CHECKPOINT_BYTES:
            self._checkpoint = threading.Thread(target=_bring_log_in, args=(path,), name="tark-checkpoint")
            self._checkpoint.start()


def open_file(path: Path, layout: Layout) -> "Connection":
    """Made with mode 0600 where it is missing. Raises OSError, sqlite3.Error; NewerFile for one of a newer version."""
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(0o600)  # SQLite gives the files beside it the same mode
    except FileNotFoundError:
        path.touch(mode=0o600)
    return _prepared(_connect(os.fspath(path)), layout)


def in_one(connection: "Connection", work: "Callable[[Connection], T]") -> T:
    """Do it in one transaction, wholly or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:  # raised again
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def copy_rows(source: "Connection", target: "Connection", wanted: Mapping[str, str], values: Mapping[str, Any]) -> bool:
    """What `wanted` selects for each table, in one transaction; False: not all of it could be read.

    A row that is there stays as it is. Raises sqlite3.Error for what the target cannot take.
    """
    import sqlite3

    whole = True

    def work(connection: "Connection") -> None:
        nonlocal whole
        for table, sql in wanted.items():
            rows: list[Any] = []
            try:
                cursor = source.execute(sql, values)
                for row in cursor:
                    rows.append(row)  # those before the one that cannot be read are kept
            except sqlite3.Error:
                whole = False  # and the caller says so
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)

    in_one(target, work)
    return whole


def is_damage(error: Exception) -> bool:
    import sqlite3

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return isinstance(error, sqlite3.DatabaseError) and code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _is_of_the_file(error: Exception) -> bool:
    """Not a defect of ours: a wrong value or statement fails in memory, too."""
    import sqlite3

    return isinstance(error, OSError | sqlite3.OperationalError) or is_damage(error)


def _put_aside(locate: Callable[[], Path], opened: tuple[Path, int, int] | None) -> Path | None:
    """The new name of the file, beside it; None where it cannot be renamed.

    The log goes with it, so that nothing is lost of what can be rescued. Where another process was faster, the file
    that is at the path by now is a new one and stays.
    """
    try:
        path = locate()
        if opened is not None and _identity(path) != opened:
            return path.with_name("another file")
        aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        if aside.exists():
            return None
        for suffix in ("-shm", "-wal", ""):
            part = path.with_name(f"{path.name}{suffix}")
            if part.exists():
                part.rename(aside.with_name(f"{aside.name}{suffix}"))
    except OSError:
        return None  # memory, then
    return aside


def _bring_log_in(path: Path) -> None:
    """With a connection of its own, so that nobody waits: others write on meanwhile."""
    import sqlite3

    connection = _connect(os.fspath(path))
    try:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    except sqlite3.Error:
        pass  # it stays in the log, which is as good; whoever writes next says what is wrong
    finally:
        connection.close()


def _identity(path: Path) -> tuple[Path, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return path, status.st_dev, status.st_ino


def _connect(name: str) -> "Connection":
    import sqlite3

    # It is closed where its owner is collected, which may be in another thread; used it is in one.
    return sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _prepared(connection: "Connection", layout: Layout) -> "Connection":
    try:
        ((version,),) = connection.execute("PRAGMA user_version")
        if version > layout.version:
            raise NewerFile("it was written by a newer tark-lsp")
        for pragma in PRAGMAS:
            connection.execute(pragma)
        if version < layout.version:
            in_one(connection, lambda inside: _make_tables(inside, layout))
    except BaseException:  # raised again
        connection.close()
        raise
    return connection


def _make_tables(connection: "Connection", layout: Layout) -> None:
    ((version,),) = connection.execute("PRAGMA user_version")
    if version < layout.version:  # another process may just have done it
        for statement in layout.tables:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {layout.version}")


def _close(connections: "list[Connection]") -> None:
    while connections:
        connections.pop().close()
