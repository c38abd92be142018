"""One SQLite file: opened for several processes, written in transactions, copied, put aside.

When a commit returns, it is in the file's write-ahead log: ending the process at any moment (kill -9) loses nothing of
it. A failure of the machine can lose the last commits, but no part of one (sqlite.org/wal.html).
"""

import os
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

BUSY_SECONDS = 5.0
"""How long SQLite waits for another process. Tark's writes take milliseconds, except when a big session is imported."""
LONGEST_LOG_PAGES = 16_384
"""At 64 MiB of log, the commit itself copies the log into the file."""
PRAGMAS = (
    "PRAGMA auto_vacuum = INCREMENTAL",  # only takes effect before there are tables
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA secure_delete = ON",  # so that deleted text cannot be read in the file
    f"PRAGMA wal_autocheckpoint = {LONGEST_LOG_PAGES}",
)
PAUSE_SECONDS = 0.01
SIZES = ("user_version", "page_count", "page_size")
MOST_COPIED_BYTES = 64 * 1024**2
"""A bigger file is not copied as a whole into memory: only the rows that this process needs."""
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
UNUSABLE = DAMAGED | {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}
"""Errors of the file. Any other error is a bug in Tark, and would also occur in memory."""
T = TypeVar("T")


class FileIdentity(NamedTuple):
    """Distinguishes the file that is at a path from one that was there before."""

    device: int
    inode: int


def open_file(path: Path, version: int, tables: Sequence[str], busy_seconds: float) -> sqlite3.Connection:
    """Open the file, or create it with mode 0600 and these tables.

    Raises OSError and sqlite3.Error; OSError also if a newer tark-lsp wrote the file.
    """
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(0o600)  # SQLite gives the log files next to it the same mode
    except FileNotFoundError:
        path.touch(mode=0o600)
    return _prepare(_connect(os.fspath(path), busy_seconds), version, tables, busy_seconds)


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a file without changing it. Raises sqlite3.Error.

    If no files can be created next to it, rows that are only in its write-ahead log are not visible.
    """
    for option in ("mode=ro", "immutable=1"):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?{option}", uri=True, timeout=BUSY_SECONDS)
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchall()
        except sqlite3.Error as error:
            connection.close()
            problem = error
        else:
            return connection
    raise problem


def open_memory(version: int, tables: Sequence[str]) -> sqlite3.Connection:
    return _prepare(_connect(":memory:", 0.0), version, tables)


def set_busy_timeout(connection: sqlite3.Connection, seconds: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1_000)}")


def in_transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """Run `work` completely or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:  # raised again
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def copy_rows(
    source: sqlite3.Connection,
    target: sqlite3.Connection,
    table: str,
    sql: str,
    values: Any = (),
    *,
    known: Collection[Any] = (),
) -> bool:
    """Copy the rows that `sql` selects into `table`, except rows in `known` and rows whose key exists there.

    Returns False if not all rows could be read; those before the error are copied. Raises sqlite3.Error if `target`
    fails.
    """
    rows: list[Any] = []
    complete = True
    try:
        rows.extend(row for row in source.execute(sql, values) if row not in known)
    except sqlite3.Error:
        complete = False
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        target.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)
    return complete


def copy_file(path: Path, target: sqlite3.Connection, version: int) -> bool:
    """Copy the whole file if it has this version, is not too big and can be read. False: nothing was copied."""
    try:
        source = open_to_read(path)
    except sqlite3.Error:
        return False
    try:
        ((found,), (pages,), (size,)) = (source.execute(f"PRAGMA {name}").fetchone() for name in SIZES)
        if found != version or pages * size > MOST_COPIED_BYTES:
            return False
        source.backup(target)
    except sqlite3.Error:
        return False
    finally:
        source.close()
    return True


def checkpoint_log(path: Path) -> None:
    """Copy the write-ahead log into the file. Works on any thread: it uses its own connection and blocks no writer."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
    except sqlite3.Error:
        return  # the file was removed
    try:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    except sqlite3.Error:
        pass  # the rows stay in the log, which is as safe; the next write reports the error
    finally:
        connection.close()


def is_unusable(error: Exception) -> bool:
    """Whether the file is the cause of the error."""
    return isinstance(error, OSError) or _primary_code(error) in UNUSABLE


def is_damaged(error: Exception) -> bool:
    return _primary_code(error) in DAMAGED


def file_identity(path: Path) -> FileIdentity | None:
    """None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return FileIdentity(status.st_dev, status.st_ino)


def put_aside(path: Path, damaged: FileIdentity | None) -> Path:
    """Rename the damaged file, and return its new name.

    Raises FileNotFoundError or FileExistsError if another process does the same, OSError if it cannot be renamed.
    The log is renamed first, so that it is never taken for the log of a new file. A process that still has the damaged
    file open goes on writing to that one: SQLite notices that it was moved and leaves the new file's log alone
    (`databaseIsUnmoved` in pager.c).
    """
    with _locked(path.parent):
        if file_identity(path) != damaged:
            raise FileNotFoundError(f"{path} was put aside by another process")
        aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        if aside.exists():
            raise FileExistsError(f"{aside} exists")
        for suffix in ("-shm", "-wal", ""):
            part = path.with_name(f"{path.name}{suffix}")
            if part.exists():
                part.rename(aside.with_name(f"{aside.name}{suffix}"))
        return aside


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Prevents other processes from putting files aside here: they could mistake the new file for the damaged one.

    Windows needs no lock: it does not rename a file that another process has open. Raises OSError if the folder cannot
    be locked within `BUSY_SECONDS`.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(PAUSE_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _primary_code(error: Exception) -> int:
    """See sqlite.org/rescode.html; 0 for errors that do not come from SQLite."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _connect(name: str, busy_seconds: float) -> sqlite3.Connection:
    # One thread uses the connection, but another can close it, when its owner is collected.
    return sqlite3.connect(name, timeout=busy_seconds, isolation_level=None, check_same_thread=False)


def _prepare(
    connection: sqlite3.Connection, version: int, tables: Sequence[str], busy_seconds: float = 0.0
) -> sqlite3.Connection:
    try:
        ((found,),) = connection.execute("PRAGMA user_version")
        if found > version:
            raise OSError("it was written by a newer tark-lsp")
        for pragma in PRAGMAS:
            _set_pragma(connection, pragma, busy_seconds)
        if found < version:
            in_transaction(connection, lambda inside: _create_tables(inside, version, tables))
    except BaseException:  # raised again
        connection.close()
        raise
    return connection


def _set_pragma(connection: sqlite3.Connection, pragma: str, busy_seconds: float) -> None:
    """SQLite itself does not wait while another process changes the journal mode of a new file."""
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute(pragma)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return


def _create_tables(connection: sqlite3.Connection, version: int, tables: Sequence[str]) -> None:
    ((found,),) = connection.execute("PRAGMA user_version")
    if found < version:  # else another process has just done it
        for statement in tables:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
