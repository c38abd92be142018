"""The SQLite file of the checkpoints: its tables, how it is opened for several servers at once, and how it stays small.

A commit is in the file's write-ahead log when the call returns: ending the process at any moment (kill -9) loses
nothing of it. A failure of the machine may lose the last changes, but no part of one (sqlite.org/wal.html).
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

KEPT_TURNS = 200
"""As many as can be waited for (protocol.md, "The turn's end"); older ones are forgotten."""
KEPT_BYTES = 256 * 1024**2
"""Of texts and files; the oldest turns go first, never the one that is being written."""
BUSY_SECONDS = 2.0
"""How long another server may write: its transactions take milliseconds."""
VERSION = 1
SCHEMA = """
CREATE TABLE contents (digest TEXT PRIMARY KEY, size INTEGER NOT NULL, base TEXT, depth INTEGER NOT NULL,
    data BLOB NOT NULL);
CREATE TABLE turns (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, time REAL NOT NULL,
    title TEXT NOT NULL, folders BLOB NOT NULL);
CREATE TABLE changes (number INTEGER PRIMARY KEY AUTOINCREMENT, turn TEXT NOT NULL, kind TEXT NOT NULL,
    path BLOB NOT NULL, target BLOB, before TEXT, after TEXT, mode INTEGER NOT NULL, sure INTEGER NOT NULL,
    undone INTEGER NOT NULL);
CREATE INDEX changes_of_turn ON changes (turn);
PRAGMA user_version = 1"""
"""Paths are blobs, since they need not be text; `before`, `after` and `base` are digests in `contents`. Where there is
a `base`, `data` is the difference from it, and `depth` how many there are below it."""
UNUSED_CHANGES = "DELETE FROM changes WHERE turn NOT IN (SELECT id FROM turns)"
NEEDED_CONTENTS = """
WITH RECURSIVE needed(digest) AS (
    SELECT before FROM changes WHERE before IS NOT NULL AND {changes}
    UNION SELECT after FROM changes WHERE after IS NOT NULL AND {changes}
    UNION SELECT base FROM contents JOIN needed USING (digest) WHERE base IS NOT NULL)
"""
UNUSED_CONTENTS = NEEDED_CONTENTS.format(changes=1) + "DELETE FROM contents WHERE digest NOT IN needed"
OF_TURN = {
    "changes": "SELECT * FROM changes WHERE turn = :turn",
    "contents": NEEDED_CONTENTS.format(changes="turn = :turn") + "SELECT * FROM contents WHERE digest IN needed",
}
"""What was noted of one turn, by table."""
T = TypeVar("T")


def open_file(path: Path) -> sqlite3.Connection:
    """Made with mode 0600 where it is missing. Raises OSError, sqlite3.Error, also for a file of a newer version."""
    if not path.exists():
        path.touch(mode=0o600)
    elif stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o600)  # SQLite gives the files beside it the same mode
    return _prepared(_connect(os.fspath(path)))


def open_memory() -> sqlite3.Connection:
    return _prepared(_connect(":memory:"))


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


def copy_changes(source: sqlite3.Connection, target: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Those of the turns, with their numbers, and their contents."""

    def work(connection: sqlite3.Connection) -> None:
        for id_ in ids:
            for table, wanted in OF_TURN.items():
                cursor = source.execute(wanted, {"turn": id_})
                marks = ", ".join("?" * len(cursor.description))
                connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", cursor)

    in_one(target, work)


def forget_old(connection: sqlite3.Connection, current: str) -> None:
    """Keep the last turns, as many as the bounds allow; within a transaction."""
    newest = f"SELECT number FROM turns ORDER BY number DESC LIMIT {KEPT_TURNS}"
    connection.execute(f"DELETE FROM turns WHERE id != ? AND number NOT IN ({newest})", (current,))
    _delete_unused(connection)
    oldest = "SELECT min(number) FROM turns WHERE id != ?"
    while size_of(connection) > KEPT_BYTES:
        if not connection.execute(f"DELETE FROM turns WHERE number = ({oldest})", (current,)).rowcount:
            break
        _delete_unused(connection)


def size_of(connection: sqlite3.Connection) -> int:
    """Bytes of all contents."""
    ((size,),) = connection.execute("SELECT coalesce(sum(size), 0) FROM contents")
    return int(size)


def _delete_unused(connection: sqlite3.Connection) -> None:
    connection.execute(UNUSED_CHANGES)
    connection.execute(UNUSED_CONTENTS)


def _connect(name: str) -> sqlite3.Connection:
    # It is closed where its owner is collected, which may be in another thread; used it is in one.
    return sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        ((version,),) = connection.execute("PRAGMA user_version")
        if version > VERSION:
            raise sqlite3.DatabaseError("it was written by a newer tark-lsp")
        connection.execute("PRAGMA auto_vacuum = FULL")  # only counts before there are tables
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if version < VERSION:
            in_one(connection, _make_tables)
    except BaseException:  # raised again
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    ((version,),) = connection.execute("PRAGMA user_version")
    if version < VERSION:  # another server may just have done it
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
