"""The whole texts of tool results of which the model was told a part, so that it can read on; bounded per session."""

from typing import TYPE_CHECKING

from tark_lsp.context.result_handles import result_id
from tark_lsp.sessions.store import SessionStore

if TYPE_CHECKING:
    from sqlite3 import Connection

KEPT_BYTES = 32 * 1024**2
"""Of one session; the oldest go first."""
ADD = "INSERT OR IGNORE INTO results (session, id, size, text) VALUES (?, ?, ?, ?)"
SIZE = "SELECT coalesce(sum(size), 0) FROM results WHERE session = ?"
DROP_OLDEST = "DELETE FROM results WHERE rowid = (SELECT min(rowid) FROM results WHERE session = ?)"


class SessionResults:
    """Of one session. The id follows from the text: the same is kept once."""

    def __init__(self, store: SessionStore, session_id: str) -> None:
        self._store = store
        self._session = session_id

    def keep(self, text: str) -> str:
        """Its id, for `find`."""
        id_, data = result_id(text), text.encode("utf-8", "surrogatepass")

        def work(connection: "Connection") -> None:
            if connection.execute(ADD, (self._session, id_, len(data), data)).rowcount:
                while connection.execute(SIZE, (self._session,)).fetchone()[0] > KEPT_BYTES:
                    connection.execute(DROP_OLDEST, (self._session,))

        self._store.write(work)
        return id_

    def find(self, result_id: str) -> str | None:
        """The whole text; None where it was never kept in this session, or made way for newer ones."""
        rows = self._store.read("SELECT text FROM results WHERE session = ? AND id = ?", self._session, result_id)
        return rows[0][0].decode("utf-8", "surrogatepass") if rows else None
