"""The full texts of shortened tool results, so that the model can read more of them; limited per session."""

from typing import TYPE_CHECKING

from tark_lsp.context.result_handles import result_id
from tark_lsp.sessions.store import SessionStore

if TYPE_CHECKING:
    from sqlite3 import Connection

KEPT_BYTES = 32 * 1024**2
"""Limit per session. The oldest results are deleted first."""
ADD = "INSERT OR IGNORE INTO results (session, id, size, text) VALUES (?, ?, ?, ?)"
SIZE = "SELECT coalesce(sum(size), 0) FROM results WHERE session = ?"
DROP_OLDEST = "DELETE FROM results WHERE rowid = (SELECT min(rowid) FROM results WHERE session = ?)"


class SessionResults:
    """The results of one session. The id is derived from the text, so the same text is stored once."""

    def __init__(self, store: SessionStore, session_id: str) -> None:
        self._store = store
        self._session = session_id

    def keep_result(self, text: str) -> str:
        """Store a text. Returns its id, for `find`."""
        id_, data = result_id(text), text.encode("utf-8", "surrogatepass")

        def work(connection: "Connection") -> None:
            if connection.execute(ADD, (self._session, id_, len(data), data)).rowcount:
                while connection.execute(SIZE, (self._session,)).fetchone()[0] > KEPT_BYTES:
                    connection.execute(DROP_OLDEST, (self._session,))

        self._store.file.write(work)
        return id_

    def find_result(self, result_id: str) -> str | None:
        """The full text; None if it was never stored in this session, or was deleted to make room for newer texts."""
        rows = self._store.file.read("SELECT text FROM results WHERE session = ? AND id = ?", self._session, result_id)
        return rows[0][0].decode("utf-8", "surrogatepass") if rows else None
