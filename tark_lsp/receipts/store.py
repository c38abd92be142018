"""The file of receipts. All servers of the user append to the same chain."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.errors import TarkError
from tark_lsp.receipts.chain import Entry, next_entries
from tark_lsp.receipts.receipt import Receipt

if TYPE_CHECKING:  # sqlite3 is imported at the first use, not when the server starts
    from sqlite3 import Connection

VERSION = 1
TABLES = ("CREATE TABLE receipts (number INTEGER PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL) STRICT",)
COLUMNS = "number, text, hash"
BUSY_SECONDS = 0.25
"""How long to wait for another process that holds the file. An append takes less than a millisecond."""


class ReceiptsUnusable(TarkError):
    """The file of receipts cannot be written or read. `message`: the reason."""

    code = "receipts_unusable"


class ReceiptStore:
    """For use on one thread. Nothing is opened, created or imported before the first use.

    A commit is in the write-ahead log and survives kill -9. It does not wait for the disk, because each decision would
    then wait, too. So the last receipts before a power failure can be missing (docs/audit.md).
    """

    def __init__(self, locate: Callable[[], Path]) -> None:
        """`locate()` returns the file, whose folder must exist, or raises OSError."""
        self._locate = locate
        self._open: Connection | None = None
        self._identity: object = None

    def append(self, receipts: Sequence[Receipt]) -> None:
        """Append all receipts or none. Raises ReceiptsUnusable."""
        import sqlite3

        from tark_lsp.sqlite_file import in_transaction

        def work(connection: "Connection") -> None:
            rows = connection.execute(f"SELECT {COLUMNS} FROM receipts ORDER BY number DESC LIMIT 1").fetchall()
            entries = next_entries(Entry(*rows[0]) if rows else None, receipts)
            rows = [(entry.number, entry.text, entry.hash) for entry in entries]
            connection.executemany("INSERT INTO receipts VALUES (?, ?, ?)", rows)

        try:
            in_transaction(self._connection(), work)
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise ReceiptsUnusable(_reason(error)) from error

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _connection(self) -> "Connection":
        """A connection to the file that is at the path now. If the file was replaced, the old one is closed."""
        from tark_lsp.sqlite_file import file_identity, open_file

        path = self._locate()
        if self._open is not None and file_identity(path) != self._identity:
            self.close()
        if self._open is None:
            self._open = open_file(path, VERSION, TABLES, BUSY_SECONDS)
            self._identity = file_identity(path)
        return self._open


def read_entries(path: Path) -> list[Entry]:
    """All entries by number; empty if there is no file. Raises ReceiptsUnusable."""
    import sqlite3

    from tark_lsp.sqlite_file import open_to_read

    if not path.exists():
        return []
    try:
        with closing(open_to_read(path)) as connection:
            return [Entry(*row) for row in connection.execute(f"SELECT {COLUMNS} FROM receipts ORDER BY number")]
    except (sqlite3.Error, OSError) as error:
        raise ReceiptsUnusable(_reason(error)) from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"the file of receipts cannot be used: {os.strerror(error.errno)}"
    return f"the file of receipts cannot be used: {error}"
