"""SessionStore: the sessions of all workspaces, in one persistent file.

Each call is one transaction. Its data is stored when it returns. Nothing is opened before the first call.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.messages import Message
from tark_lsp.sessions import leases, log_rows
from tark_lsp.sessions.rows import Holder, SessionRow
from tark_lsp.sessions.schema import TEXT_OF
from tark_lsp.sessions.session_file import SessionFile
from tark_lsp.sessions.session_log import SessionLog

if TYPE_CHECKING:
    from sqlite3 import Connection

    from tark_lsp.sessions.export import Exported

CHANGEABLE = ("title", "model", "mode", "approval", "thinking", "folders")


class SessionStore:
    """For one thread. `log` stores the turns of the sessions, `file` reads and writes rows of other tables."""

    def __init__(self, locate: Callable[[], Path], failed: Callable[[str], None]) -> None:
        """`locate()` returns the file, whose folder exists. If it raises OSError, sessions are kept in memory.

        `failed(problem)` is called with a sentence for the user: what could not be stored, and what was done about it.
        """
        self.file = SessionFile(locate, failed)
        self.log = SessionLog(self.file)
        self._leases = self.file.leases

    def create_session(self, row: SessionRow, messages: Sequence[Message] = ()) -> None:
        """Create a session that this process holds."""

        def work(connection: "Connection") -> None:
            log_rows.add_session(connection, row)
            self._leases.acquire(connection, row.id)
            for message in messages:
                log_rows.add_message(connection, row.id, "", message)

        self.file.write(work)
        self.file.hold(row)

    def import_session(self, row: SessionRow, exported: "Exported") -> None:
        """Create a session that this process holds, with the messages and turns of an exported session."""
        add = log_rows.import_rows(row.id, exported)

        def work(connection: "Connection") -> None:
            log_rows.add_session(connection, row)
            self._leases.acquire(connection, row.id)
            add(connection)

        self.file.write(work)
        self.file.hold(row)

    def change_session(self, session_id: str, **columns: str | Sequence[Path] | None) -> None:
        """Set some of the columns in CHANGEABLE, or `agent`. Raises SessionHeld if another process holds it."""
        agent = columns.pop("agent", None)
        assert set(columns) <= set(CHANGEABLE), "only these columns change"
        values = [_column_value(value) for value in columns.values()]
        sql = f"UPDATE sessions SET {', '.join(f'{name} = ?' for name in columns)} WHERE id = ?"

        def work(connection: "Connection") -> None:
            self._leases.require_free(connection, session_id)
            if columns:
                connection.execute(sql, (*values, session_id))
            if agent is not None:
                connection.execute(log_rows.SET_AGENT, (session_id, agent))

        self.file.write(work)
        if session_id in self._leases.held and (row := self.find_session(session_id)) is not None:
            self.file.hold(row)

    def find_session(self, session_id: str) -> SessionRow | None:
        rows = self.file.read(f"{log_rows.SESSIONS} WHERE id = ?", session_id)
        return log_rows.session_row(rows[0]) if rows else None

    def list_sessions(self) -> list[SessionRow]:
        """The sessions of all workspaces, newest first."""
        rows = self.file.read(f"{log_rows.SESSIONS} ORDER BY updated DESC, created DESC")
        return [log_rows.session_row(row) for row in rows]

    def delete_session(self, session_id: str) -> None:
        """Delete its text and keep its usage. Raises SessionHeld if another process holds the session."""

        def work(connection: "Connection") -> None:
            self._leases.require_free(connection, session_id)
            for table, where in TEXT_OF.items():
                connection.execute(f"DELETE FROM {table} WHERE {where}", {"session": session_id})

        self.file.write(work)
        self.file.free_pages()
        self.file.let_go([session_id])

    def fork_session(self, session_id: str, new_id: str, title: str, number: int | None) -> SessionRow:
        """Create a session that this process holds, with the messages up to `number` (None: all); see forking.py.

        It does not matter which process holds the original session. Raises KeyError if that does not exist.
        """
        from tark_lsp.sessions.forking import fork

        def work(connection: "Connection") -> None:
            if not fork(connection, session_id, new_id, title, number):
                raise KeyError(session_id)
            self._leases.acquire(connection, new_id)

        self.file.write(work)
        row = self.find_session(new_id)
        assert row is not None, "this process holds it, so nobody deletes it"
        self.file.hold(row)
        return row

    def acquire_lease(self, session_id: str) -> Holder | None:
        """None if this process holds the session now, else the process that holds it.

        `session_id` can also be another id, such as the id under which hunks are stored.
        """
        holder = self.file.write(lambda connection: self._leases.acquire(connection, session_id))
        if holder is None:
            self._leases.held.add(session_id)
            if (row := self.find_session(session_id)) is not None:
                self.file.hold(row)
        return holder

    def lease_holder(self, session_id: str) -> Holder | None:
        """The other process that holds the session; None if this one or nobody does."""
        rows = self.file.read(f"{leases.ALL} WHERE session = ?", session_id)
        return self._leases.other_holders(rows).get(session_id)

    def lease_holders(self) -> dict[str, Holder]:
        """The other processes that hold sessions, by session."""
        return self._leases.other_holders(self.file.read(leases.ALL))

    def renew_leases(self) -> list[str]:
        """Call this every `RENEWAL_SECONDS`. Returns the ids of sessions that another process has taken over.

        If sessions are kept in memory, it also tries to return to the file.
        """
        return self.file.take_lost_sessions()

    def release_leases(self, session_id: str | None = None) -> None:
        """Release one lease of this process, or all of them."""
        released = self._leases.held & ({session_id} if session_id is not None else self._leases.held)
        if released:
            self.file.write(lambda connection: self._leases.release(connection, released))
            self.file.let_go(released)

    def close(self) -> None:
        """Close the file. If data in memory cannot be stored now either, it is lost, and `failed` reports it."""
        self.file.close()


def _column_value(value: str | Sequence[Path] | None) -> str | bytes | None:
    if value is None:
        return None
    return log_rows.clean(value) if isinstance(value, str) else log_rows.blob_of(value)
