"""The queue of work in the table of files: which ones must be indexed or removed, which were begun, which are done.

Each change is one transaction, so that a killed process always leaves a valid queue.
"""

import os
import sqlite3
from collections.abc import Iterable, Sequence

from tark_lsp.index.file_rows import FileRow, Seen, State, select_rows
from tark_lsp.index.packing import PackedFile
from tark_lsp.sqlite_file import in_transaction

SEEN = "CREATE TEMP TABLE seen (path BLOB PRIMARY KEY, mtime INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID"
COMPARED = 1
"""The `application_id` of the file after its first scan."""


class WorkQueue:
    """Raises sqlite3.Error if the file fails."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @property
    def was_compared(self) -> bool:
        """Whether the files were ever listed. Before that, an empty queue does not mean that all work is done."""
        ((found,),) = self._connection.execute("PRAGMA application_id")
        return bool(found == COMPARED)

    def compare(self, seen: Iterable[Seen]) -> int:
        """Mark new and changed files of a scan as due, and missing ones as gone. Returns how many were marked."""

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
        """Mark files as due, whatever their state is."""
        self._write_many(
            "INSERT INTO files (path, mtime, size, state, priority) VALUES (?, ?, ?, 0, ?) ON CONFLICT (path) DO UPDATE"
            " SET state = 0, priority = excluded.priority, mtime = excluded.mtime, size = excluded.size",
            ((os.fsencode(file.path), file.mtime, file.size, priority) for file in seen),
        )

    def mark_gone(self, paths: Iterable[str]) -> None:
        self._write_many("UPDATE files SET state = 4 WHERE path = ?", ((os.fsencode(path),) for path in paths))

    def mark_again(self, paths: Iterable[str]) -> None:
        """Mark files as due, and forget their hashes so that they are parsed again."""
        self._write_many(
            "UPDATE files SET state = 0, hash = x'' WHERE path = ?",
            ((os.fsencode(path),) for path in paths),
        )

    def abandon(self) -> None:
        """Mark files as due whose indexing was begun but not finished: they were not committed to the text index."""
        self._write_many("UPDATE files SET state = 0 WHERE state = 1", [()])

    def is_idle(self) -> bool:
        """Whether no file is due or gone. Files that were begun do not count."""
        return self._connection.execute("SELECT 1 FROM files WHERE state IN (0, 4) LIMIT 1").fetchone() is None

    def next_work(self, limit: int, *, only_removals: bool = False) -> list[FileRow]:
        """Files to be removed first, then new and changed ones."""
        rows: list[FileRow] = []
        for state in (State.GONE,) if only_removals else (State.GONE, State.DUE):
            rows += select_rows(
                self._connection,
                "WHERE state = ? ORDER BY priority DESC, mtime DESC LIMIT ?",
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
        """Record files as done after the commit of the text index: indexed with their hashes, skipped with their hashes
        and reasons, or removed.
        """

        def work(connection: sqlite3.Connection) -> None:
            update = (
                "UPDATE files SET state = ?, mtime = ?, size = ?, hash = ?, reason = ?, chunks = ?, definitions = ?,"
                " priority = 0, tries = 0 WHERE id = ? AND state = 1"  # not if it has changed again
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
        """Mark files as clean whose text has not changed, only their time."""
        self._write_many(
            "UPDATE files SET state = 2, mtime = ?, size = ?, tries = 0, priority = 0 WHERE id = ? AND state = 1",
            ((row.mtime, row.size, row.id) for row in rows),
        )

    def _write_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        in_transaction(self._connection, lambda connection: connection.executemany(sql, rows))
