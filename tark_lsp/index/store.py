"""The files of the index in SQLite: their properties when they were indexed, the work to do, and their parsed content.

A file's row has the state of its indexing (`State`), so that a killed process always leaves a valid queue of work. Each
part of the parsed content is one compressed value, whose checksum detects damage. The text index (text_index.py) finds
names.
"""

import os
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from tark_lsp.index.file_rows import FileRow, State, Totals, select_rows
from tark_lsp.index.model import Reference, SymbolKind
from tark_lsp.index.packing import (
    Outline,
    names_in_outline,
    names_in_references,
    unpack_outline,
    unpack_references,
)
from tark_lsp.index.work_queue import WorkQueue
from tark_lsp.sqlite_file import open_file

VERSION = 3
BUSY_SECONDS = 5.0
TABLES = (
    """CREATE TABLE files (
        id INTEGER PRIMARY KEY, path BLOB UNIQUE NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
        hash BLOB NOT NULL DEFAULT x'', state INTEGER NOT NULL, priority INTEGER NOT NULL DEFAULT 0,
        tries INTEGER NOT NULL DEFAULT 0,
        reason TEXT NOT NULL DEFAULT '', chunks INTEGER NOT NULL DEFAULT 0,
        definitions INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX work ON files (state, priority DESC, mtime DESC) WHERE state IN (0, 1, 4)",
    "CREATE TABLE parsed (file INTEGER PRIMARY KEY, outline BLOB NOT NULL, uses BLOB NOT NULL, places BLOB NOT NULL)",
)
ANSWERS = "state IN (0, 2) AND tries = 0 AND chunks > 0"
"""The condition for files whose stored content can be used in answers."""
AT_ONCE = 500
"""The maximum number of ids in one statement."""


class Store:
    """Raises sqlite3.Error and OSError if the file fails; `sqlite_file.is_damaged` detects damage."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self._connection = open_file(path, VERSION, TABLES, BUSY_SECONDS)
        self._connection.execute("PRAGMA secure_delete = OFF")  # no text of files is stored, and ON halves the speed
        self._connection.execute("PRAGMA cache_size = -16000")
        self._connection.execute("PRAGMA wal_autocheckpoint = 2000")
        self.queue = WorkQueue(self._connection)
        if writable:
            self.queue.abandon()  # work that a killed process began; `tries` records that the text index can differ
        else:
            self._connection.execute("PRAGMA query_only = ON")

    def close(self) -> None:
        self._connection.close()

    def check(self) -> None:
        """Raises sqlite3.DatabaseError if the file is damaged."""
        for check in ("quick_check(1)", "integrity_check(files)"):  # only the second check reads the index of paths
            rows = self._connection.execute(f"PRAGMA {check}").fetchall()
            if rows != [("ok",)]:
                raise sqlite3.DatabaseError(f"damaged: {rows[0][0]}")

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
            sum(counts[state][0] for state in (State.DUE, State.DOING, State.GONE) if state in counts),
            sum(row[1] for row in counts.values()),
            sum(row[2] for row in counts.values()),
            counts[State.CLEAN][3] if State.CLEAN in counts else 0,
            tuple((reason, count) for reason, count in skipped),
        )

    def file(self, path: str) -> FileRow | None:
        rows = select_rows(self._connection, "WHERE path = ?", (os.fsencode(path),))
        return rows[0] if rows else None

    def files(self, ids: Iterable[int]) -> dict[int, FileRow]:
        """The files among `ids` whose stored content can be used in answers, by id."""
        found: dict[int, FileRow] = {}
        wanted = [*dict.fromkeys(ids)]
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            rows = select_rows(self._connection, f"WHERE id IN ({_marks(some)}) AND {ANSWERS}", some)
            found |= {row.id: row for row in rows}
        return found

    def files_after(self, path: str, limit: int) -> list[tuple[str, str]]:
        """The next paths after this one, in order, each with the reason why it is skipped, or an empty string."""
        rows = self._connection.execute(
            "SELECT path, reason FROM files WHERE path > ? AND state IN (2, 3) ORDER BY path LIMIT ?",
            (os.fsencode(path), limit),
        )
        return [(os.fsdecode(found), reason) for found, reason in rows]

    def outline(self, file: int, name: str | None = None) -> Outline:
        """The definitions (only those named `name`, if given) and imports of a file. Raises ValueError if damaged."""
        data = self._part("outline", file)
        return Outline((), ()) if data is None else unpack_outline(data, name)

    def places(self, files: Iterable[int]) -> dict[int, bytes]:
        """The chunks of these files, in the format of `unpack_places`."""
        found: dict[int, bytes] = {}
        wanted = [*dict.fromkeys(files)]
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            rows = self._connection.execute(f"SELECT file, places FROM parsed WHERE file IN ({_marks(some)})", some)
            found |= dict(rows.fetchall())
        return found

    def references(self, file: int, name: str | None = None) -> tuple[Reference, ...]:
        """The references of a file (only those to `name`, if given), by position. Raises ValueError if damaged."""
        data = self._part("uses", file)
        return () if data is None else unpack_references(data, name)

    def indexed(self) -> list[FileRow]:
        """All files with chunks that can be used in answers, by id."""
        return select_rows(self._connection, f"WHERE {ANSWERS} ORDER BY id", ())

    def names(self, file: int, without: Collection[SymbolKind]) -> tuple[list[str], list[tuple[str, str]], list[str]]:
        """The names that a file defines (except the kinds in `without`), imports and uses, for the graph.

        Raises ValueError if they are damaged.
        """
        row = self._connection.execute("SELECT outline, uses FROM parsed WHERE file = ?", (file,)).fetchone()
        return ([], [], []) if row is None else (*names_in_outline(row[0], without), names_in_references(row[1]))

    def _part(self, column: str, file: int) -> bytes | None:
        row = self._connection.execute(f"SELECT {column} FROM parsed WHERE file = ?", (file,)).fetchone()
        return None if row is None else bytes(row[0])


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
