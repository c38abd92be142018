"""The files of the index in SQLite: what each was when it was indexed, what is to be done with it, what it holds.

A file's row says where its indexing stands (`State`), so that a process that is killed at any moment leaves a queue of
work. What was parsed is one compressed value for each part, whose checksum shows damage. Names are found by the text
index (text_index.py), not here.
"""

import os
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from tark_lsp.index.model import Chunk, Reference, SymbolKind
from tark_lsp.index.packing import (
    Outline,
    PackedFile,
    names_in_outline,
    names_in_references,
    unpack_outline,
    unpack_places,
    unpack_references,
)
from tark_lsp.sqlite_file import in_transaction, open_file

VERSION = 2
BUSY_SECONDS = 5.0
TABLES = (
    """CREATE TABLE files (
        id INTEGER PRIMARY KEY, path BLOB UNIQUE NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
        hash BLOB NOT NULL DEFAULT x'', state INTEGER NOT NULL, priority INTEGER NOT NULL DEFAULT 0,
        tries INTEGER NOT NULL DEFAULT 0, deaths INTEGER NOT NULL DEFAULT 0,
        reason TEXT NOT NULL DEFAULT '', chunks INTEGER NOT NULL DEFAULT 0,
        definitions INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX work ON files (state, priority DESC, mtime DESC) WHERE state IN (0, 1, 4)",
    "CREATE TABLE parsed (file INTEGER PRIMARY KEY, outline BLOB NOT NULL, uses BLOB NOT NULL, places BLOB NOT NULL)",
)
SEEN = "CREATE TEMP TABLE seen (path BLOB PRIMARY KEY, mtime INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID"


class State(IntEnum):
    TODO = 0
    """New, or changed since it was indexed. If it has chunks, they are those of its former text."""
    DOING = 1
    """It is being replaced: what is stored here and in the text index may differ. So may they at the next start, which
    makes it TODO, while `tries` counts."""
    CLEAN = 2
    SKIPPED = 3
    """`reason` says why it is not indexed."""
    GONE = 4
    """It no longer exists, or must not be indexed: to be removed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as a scan found it. `mtime` in nanoseconds, `size` in bytes."""

    path: str
    mtime: int
    size: int


@dataclass(frozen=True, slots=True)
class FileRow:
    id: int
    path: str
    mtime: int
    size: int
    hash: bytes
    state: State
    tries: int
    """How often it was begun since it was last finished."""
    deaths: int
    """How often the process died while it parsed this file."""
    chunks: int


@dataclass(frozen=True, slots=True)
class Totals:
    """`done` counts files that are indexed or skipped; `bytes` are those of indexed files."""

    files: int = 0
    done: int = 0
    work: int = 0
    chunks: int = 0
    definitions: int = 0
    bytes: int = 0
    skipped: tuple[tuple[str, int], ...] = ()


COMPARED = 1
"""The `application_id` of the file after its first scan."""
AT_ONCE = 500
"""Rows that one statement names."""
COLUMNS = "id, path, mtime, size, hash, state, tries, deaths, chunks"


class Store:
    """Raises sqlite3.Error and OSError if the file fails; `sqlite_file.is_damaged` knows the damaged ones."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self._connection = open_file(path, VERSION, TABLES, BUSY_SECONDS)
        self._connection.execute("PRAGMA secure_delete = OFF")  # no text of files is stored, and it halves the speed
        self._connection.execute("PRAGMA cache_size = -16000")
        self._connection.execute("PRAGMA wal_autocheckpoint = 2000")
        if writable:
            # What a killed process began; `tries` says that the text index can differ.
            self._connection.execute("UPDATE files SET state = 0 WHERE state = 1")
        else:
            self._connection.execute("PRAGMA query_only = ON")

    def close(self) -> None:
        self._connection.close()

    def check(self) -> None:
        """Raises sqlite3.DatabaseError if the file is damaged."""
        rows = self._connection.execute("PRAGMA quick_check(1)").fetchall()
        if rows != [("ok",)]:
            raise sqlite3.DatabaseError(f"damaged: {rows[0][0]}")

    # What is to be done

    def compare(self, seen: Iterable[Seen]) -> int:
        """Take over the result of a scan: new and changed files are to be done, missing ones removed. How many."""

        def work(connection: sqlite3.Connection) -> int:
            connection.execute("DROP TABLE IF EXISTS temp.seen")
            connection.execute(SEEN)
            connection.executemany(
                "INSERT OR IGNORE INTO temp.seen VALUES (?, ?, ?)",
                ((os.fsencode(file.path), file.mtime, file.size) for file in seen),
            )
            before = connection.total_changes
            connection.execute(
                "INSERT INTO files (path, mtime, size, state) SELECT path, mtime, size, 0 FROM temp.seen"
                " WHERE path NOT IN (SELECT path FROM files)"
            )
            connection.execute(
                "UPDATE files SET state = 0, priority = 0, mtime = seen.mtime, size = seen.size FROM temp.seen"
                " WHERE seen.path = files.path AND (files.state = 4 OR"
                " (files.state IN (1, 2, 3) AND (files.mtime, files.size) != (seen.mtime, seen.size)))"
            )
            connection.execute(
                "UPDATE files SET state = 4 WHERE state != 4 AND path NOT IN (SELECT path FROM temp.seen)"
            )
            changed = connection.total_changes - before
            connection.execute("DROP TABLE temp.seen")
            connection.execute(f"PRAGMA application_id = {COMPARED}")
            return changed

        return in_transaction(self._connection, work)

    def mark(self, seen: Iterable[Seen], *, priority: int = 0) -> None:
        """Files to be done whatever is known of them."""
        self._write_many(
            "INSERT INTO files (path, mtime, size, state, priority) VALUES (?, ?, ?, 0, ?) ON CONFLICT (path) DO UPDATE"
            " SET state = 0, priority = excluded.priority, mtime = excluded.mtime, size = excluded.size",
            ((os.fsencode(file.path), file.mtime, file.size, priority) for file in seen),
        )

    def mark_gone(self, paths: Iterable[str]) -> None:
        self._write_many("UPDATE files SET state = 4 WHERE path = ?", ((os.fsencode(path),) for path in paths))

    def mark_again(self, paths: Iterable[str]) -> None:
        """Files to be done as if they were new."""
        self._write_many(
            "UPDATE files SET state = 0, hash = x'' WHERE path = ?",
            ((os.fsencode(path),) for path in paths),
        )

    def blame(self, file: int) -> None:
        """The process died while it parsed this file."""
        self._write_many("UPDATE files SET deaths = deaths + 1 WHERE id = ? AND state != 2", [(file,)])

    def abandon(self) -> None:
        """What was begun and is not finished was not committed to the text index either."""
        self._write_many("UPDATE files SET state = 0 WHERE state = 1", [()])

    def is_idle(self) -> bool:
        """Whether nothing is to be done, beside what was begun."""
        return self._connection.execute("SELECT 1 FROM files WHERE state IN (0, 4) LIMIT 1").fetchone() is None

    def next_work(self, limit: int, *, only_removals: bool = False) -> list[FileRow]:
        """Files to be removed first, then new and changed ones."""
        rows: list[FileRow] = []
        for state in (State.GONE,) if only_removals else (State.GONE, State.TODO):
            rows += self._rows(
                f"SELECT {COLUMNS} FROM files WHERE state = ? ORDER BY priority DESC, mtime DESC LIMIT ?",
                (state, limit - len(rows)),
            )
        return rows

    def begin(self, ids: Iterable[int]) -> None:
        self._write_many("UPDATE files SET state = 1, tries = tries + 1 WHERE id = ?", ((number,) for number in ids))

    def finish(
        self,
        done: Sequence[tuple[FileRow, bytes, PackedFile]],
        skipped: Sequence[tuple[FileRow, bytes, str]],
        removed: Sequence[int],
    ) -> None:
        """After the commit of the text index: what was indexed (with its hash), skipped (with its reason), removed."""

        def work(connection: sqlite3.Connection) -> None:
            update = (
                "UPDATE files SET state = ?, mtime = ?, size = ?, hash = ?, reason = ?, chunks = ?, definitions = ?,"
                " priority = 0, tries = 0, deaths = 0 WHERE id = ? AND state = 1"  # else it changed again meanwhile
            )
            connection.executemany(
                update,
                (
                    (State.CLEAN, row.mtime, row.size, digest, "", packed.chunks, packed.definitions, row.id)
                    for row, digest, packed in done
                ),
            )
            connection.executemany(
                "INSERT OR REPLACE INTO parsed VALUES (?, ?, ?, ?)",
                ((row.id, packed.outline, packed.uses, packed.places) for row, _, packed in done),
            )
            connection.executemany(
                update,
                ((State.SKIPPED, row.mtime, row.size, digest, reason, 0, 0, row.id) for row, digest, reason in skipped),
            )
            connection.executemany("DELETE FROM parsed WHERE file = ?", ((row.id,) for row, _, _ in skipped))
            connection.executemany("DELETE FROM parsed WHERE file = ?", ((number,) for number in removed))
            connection.executemany("DELETE FROM files WHERE id = ? AND state = 1", ((number,) for number in removed))

        in_transaction(self._connection, work)

    def touch(self, rows: Iterable[FileRow]) -> None:
        """Files whose text is what it was: they only have another time."""
        self._write_many(
            "UPDATE files SET state = 2, mtime = ?, size = ?, tries = 0, priority = 0 WHERE id = ? AND state = 1",
            ((row.mtime, row.size, row.id) for row in rows),
        )

    # What is known

    @property
    def was_compared(self) -> bool:
        """Whether the files were listed since it was begun: before, nothing is to be done, but nothing is known."""
        ((found,),) = self._connection.execute("PRAGMA application_id")
        return bool(found == COMPARED)

    def totals(self) -> Totals:
        counts = {
            state: counted
            for state, *counted in self._connection.execute(
                "SELECT state, count(*), sum(chunks), sum(definitions), sum(size) FROM files GROUP BY state"
            )
        }
        skipped = self._connection.execute(
            "SELECT reason, count(*) FROM files WHERE state = 3 GROUP BY reason ORDER BY reason"
        ).fetchall()
        files = sum(counts[state][0] for state in counts if state != State.GONE)
        done = sum(counts[state][0] for state in (State.CLEAN, State.SKIPPED) if state in counts)
        return Totals(
            files,
            done,
            sum(counts[state][0] for state in (State.TODO, State.DOING, State.GONE) if state in counts),
            sum(row[1] for row in counts.values()),
            sum(row[2] for row in counts.values()),
            counts[State.CLEAN][3] if State.CLEAN in counts else 0,
            tuple((reason, count) for reason, count in skipped),
        )

    def file(self, path: str) -> FileRow | None:
        rows = self._rows(f"SELECT {COLUMNS} FROM files WHERE path = ?", (os.fsencode(path),))
        return rows[0] if rows else None

    def files(self, ids: Iterable[int]) -> dict[int, FileRow]:
        """Those of the files that are in the index as they are stored, by id."""
        found: dict[int, FileRow] = {}
        wanted = [*dict.fromkeys(ids)]
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            sql = f"SELECT {COLUMNS} FROM files WHERE id IN ({marks}) AND state IN (0, 2) AND tries = 0 AND chunks > 0"
            found |= {row.id: row for row in self._rows(sql, some)}
        return found

    def paths(self) -> list[str]:
        """Of all files that are indexed, in order."""
        rows = self._connection.execute("SELECT path FROM files WHERE state IN (0, 2) AND chunks > 0 ORDER BY path")
        return [os.fsdecode(path) for (path,) in rows]

    def files_after(self, path: str, limit: int) -> list[tuple[str, str]]:
        """Paths of files behind this one, in order, each with the reason why it is skipped, or an empty string."""
        rows = self._connection.execute(
            "SELECT path, reason FROM files WHERE path > ? AND state IN (2, 3) ORDER BY path LIMIT ?",
            (os.fsencode(path), limit),
        )
        return [(os.fsdecode(found), reason) for found, reason in rows]

    def outline(self, file: int, name: str | None = None) -> Outline:
        """Definitions (of this name, if there is one) and imports of a file. Raises ValueError if they are damaged."""
        data = self._part("outline", file)
        return Outline((), ()) if data is None else unpack_outline(data, name)

    def places(self, file: int) -> tuple[Chunk, ...]:
        """The chunks of a file. Raises ValueError if they are damaged."""
        data = self._part("places", file)
        return () if data is None else unpack_places(data)

    def references(self, file: int, name: str | None = None) -> tuple[Reference, ...]:
        """To this name, if there is one; in the order of their places. Raises ValueError if they are damaged."""
        data = self._part("uses", file)
        return () if data is None else unpack_references(data, name)

    def indexed(self) -> list[FileRow]:
        """All files that have definitions or chunks, in the order of their ids."""
        return self._rows(
            f"SELECT {COLUMNS} FROM files WHERE state IN (0, 2) AND tries = 0 AND chunks > 0 ORDER BY id", ()
        )

    def names(self, file: int, without: Collection[SymbolKind]) -> tuple[list[str], list[tuple[str, str]], list[str]]:
        """For the graph: the names that a file defines, without those of some kinds, that it imports, and that it uses.

        Raises ValueError if they are damaged.
        """
        row = self._connection.execute("SELECT outline, uses FROM parsed WHERE file = ?", (file,)).fetchone()
        return ([], [], []) if row is None else (*names_in_outline(row[0], without), names_in_references(row[1]))

    def _part(self, column: str, file: int) -> bytes | None:
        row = self._connection.execute(f"SELECT {column} FROM parsed WHERE file = ?", (file,)).fetchone()
        return None if row is None else bytes(row[0])

    def _rows(self, sql: str, values: Sequence[object]) -> list[FileRow]:
        return [
            FileRow(number, os.fsdecode(path), mtime, size, digest, State(state), tries, deaths, chunks)
            for number, path, mtime, size, digest, state, tries, deaths, chunks in self._connection.execute(sql, values)
        ]

    def _write_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        in_transaction(self._connection, lambda connection: connection.executemany(sql, rows))
