"""One SQLite file of ours: how it is opened for several processes at once, written in one go, copied from, put aside.

A commit is in the file's write-ahead log when the call returns: ending the process at any moment (kill -9) loses
nothing of it. A failure of the machine may lose the last commits, but no part of one (sqlite.org/wal.html).
"""

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

BUSY_SECONDS = 5.0
"""How long another process may write. Ours take milliseconds, but for a big session that comes or goes as a whole."""
LONGEST_LOG_PAGES = 16_384
"""At 64 MiB of log a commit brings it into the file by itself."""
PRAGMAS = (
    "PRAGMA auto_vacuum = INCREMENTAL",  # only counts before there are tables
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA secure_delete = ON",  # what is deleted is not to be read in the file
    f"PRAGMA wal_autocheckpoint = {LONGEST_LOG_PAGES}",
)
SIZES = ("user_version", "page_count", "page_size")
MOST_COPIED_BYTES = 64 * 1024**2
"""Of a file that is gone on with in memory as a whole; of a bigger one only what is at hand."""
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
"""What the file is to blame for. Anything else is a defect of ours, which would be one in memory, too."""
T = TypeVar("T")


class Identity(NamedTuple):
    """Which file is at a path."""

    device: int
    inode: int


class NewerFile(OSError):
    """A newer tark-lsp wrote the file: it is left alone."""


def open_file(path: Path, version: int, tables: Sequence[str], wait: bool = True) -> sqlite3.Connection:
    """Made with mode 0600 where it is missing. `tables` are statements, run on a file that has no `version` yet.

    `wait`: for others that write (`be_patient`). Raises OSError, sqlite3.Error; NewerFile for one of a newer version.
    """
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(0o600)  # SQLite gives the files beside it the same mode
    except FileNotFoundError:
        path.touch(mode=0o600)
    return _prepared(_connect(os.fspath(path), BUSY_SECONDS if wait else 0.0), version, tables)


def open_to_read(path: Path) -> sqlite3.Connection:
    """Of a file that is not to be changed. Where nothing can be written beside it either, what is only in its log is
    not seen. Raises sqlite3.Error.
    """
    for how in ("mode=ro", "immutable=1"):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=BUSY_SECONDS)
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchall()
        except sqlite3.Error as error:
            connection.close()
            problem = error
        else:
            return connection
    raise problem


def be_patient(connection: sqlite3.Connection) -> None:
    """From now on it waits for others that write."""
    connection.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1_000)}")


def open_memory(version: int, tables: Sequence[str]) -> sqlite3.Connection:
    return _prepared(_connect(":memory:"), version, tables)


def in_one(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
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


def copy_rows(
    source: sqlite3.Connection, target: sqlite3.Connection, wanted: Mapping[str, str], values: Mapping[str, Any]
) -> bool:
    """What `wanted` selects for each table; False: not all of it could be read. A row that is there stays as it is.

    Within a transaction of `target`. Raises sqlite3.Error for what that cannot take.
    """
    whole = True
    for table, sql in wanted.items():
        rows: list[Any] = []
        try:
            rows.extend(source.execute(sql, values))  # where it breaks, those before stay
        except sqlite3.Error:
            whole = False  # and the caller says so
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            target.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)
    return whole


def copy_all(path: Path, target: sqlite3.Connection, version: int) -> bool:
    """The whole file, where it is of that version, not too big, and can be read; False: nothing was copied."""
    try:
        source = open_to_read(path)
    except sqlite3.Error:
        return False  # the rows at hand are carried over, then, or it is said that they cannot be
    try:
        ((found,), (pages,), (size,)) = (source.execute(f"PRAGMA {name}").fetchone() for name in SIZES)
        if found != version or pages * size > MOST_COPIED_BYTES:
            return False
        source.backup(target)
    except sqlite3.Error:
        return False  # the same
    finally:
        source.close()
    return True


def bring_log_in(path: Path) -> None:
    """Into the file, with a connection of its own and for any thread: it waits for the disk, and others write on."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
    except sqlite3.Error:
        return  # it was removed
    try:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    except sqlite3.Error:
        pass  # it stays in the log, which is as good; whoever writes next says what is wrong
    finally:
        connection.close()


def is_unusable(error: Exception) -> bool:
    """Is the file to blame?"""
    return isinstance(error, OSError) or _code(error) in UNUSABLE


def is_damaged(error: Exception) -> bool:
    return _code(error) in DAMAGED


def identity(path: Path) -> Identity | None:
    """None: there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return Identity(status.st_dev, status.st_ino)


def put_aside(path: Path, damaged: Identity | None) -> Path:
    """The name it has from now on. Raises OSError where it cannot be renamed, or is not that one any more.

    Its log goes first, so that it is never taken for that of a new file. Whoever still has it open writes what is put
    aside; SQLite sees that it was moved, and leaves the new one's log alone (`databaseIsUnmoved` in its pager.c).
    """
    if identity(path) != damaged:
        raise FileNotFoundError(f"{path} was put aside by another process")
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    if aside.exists():
        raise FileExistsError(f"{aside} exists")
    for suffix in ("-shm", "-wal", ""):
        part = path.with_name(f"{path.name}{suffix}")
        if part.exists():
            part.rename(aside.with_name(f"{aside.name}{suffix}"))
    return aside


def _code(error: Exception) -> int:
    """The primary one (sqlite.org/rescode.html); 0 for errors that are not SQLite's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _connect(name: str, busy_seconds: float = 0.0) -> sqlite3.Connection:
    # It is closed where its owner is collected, which may be in another thread; used it is in one.
    return sqlite3.connect(name, timeout=busy_seconds, isolation_level=None, check_same_thread=False)


def _prepared(connection: sqlite3.Connection, version: int, tables: Sequence[str]) -> sqlite3.Connection:
    try:
        ((found,),) = connection.execute("PRAGMA user_version")
        if found > version:
            raise NewerFile("it was written by a newer tark-lsp")
        for pragma in PRAGMAS:
            connection.execute(pragma)
        if found < version:
            in_one(connection, lambda inside: _make_tables(inside, version, tables))
    except BaseException:  # raised again
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection, version: int, tables: Sequence[str]) -> None:
    ((found,),) = connection.execute("PRAGMA user_version")
    if found < version:  # another process may just have done it
        for statement in tables:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
