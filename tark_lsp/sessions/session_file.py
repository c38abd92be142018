"""SessionFile: the database of sessions, and which of them this process holds.

Everything is stored before a client is told: in the file, so that kill -9 loses nothing, or in memory, which is shown.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tark_lsp.database import Database
from tark_lsp.sessions.held_sessions import HeldSessions, TakenOver
from tark_lsp.sessions.leases import Leases
from tark_lsp.sessions.rows import SessionHeld, SessionRow, TurnRow
from tark_lsp.sessions.schema import LAYOUT

if TYPE_CHECKING:
    from sqlite3 import Connection

T = TypeVar("T")


class SessionFile:
    """For one thread. Nothing is opened before the first call."""

    def __init__(self, locate: Callable[[], Path], failed: Callable[[str], None]) -> None:
        """See `SessionStore`."""
        self._failed = failed
        self.leases = Leases()
        self.problem = ""
        """Why sessions are kept in memory only; empty if they are stored in the file."""
        self._held = HeldSessions(self.leases)
        self._database = Database(locate, LAYOUT, self._held.carry, self._report)

    def read(self, sql: str, *values: Any) -> list[Any]:
        return self._database.read(sql, *values)

    def write(self, work: "Callable[[Connection], T]") -> T:
        """Run `work` in one transaction. If the file fails, run it again on the next file."""
        return self._database.write(work)

    def write_held(self, session_id: str, work: "Callable[[Connection], T]") -> T:
        """Like `write`. If the data is in memory, it first tries to return to the file.

        Raises SessionHeld if this process does not hold the session.
        """

        def checked(connection: "Connection") -> T:
            self.leases.require_held(connection, session_id)
            return work(connection)

        if session_id in self.leases.held:
            self.return_to_file()
        return self.write(checked)

    def write_turn(self, turn_id: str, work: "Callable[[Connection, str], T]") -> T:
        """Like `write_held`. `work` also gets the id of the turn's session."""

        def checked(connection: "Connection") -> T:
            row = connection.execute("SELECT session FROM turns WHERE id = ?", (turn_id,)).fetchone()
            if row is None:  # its session was deleted meanwhile
                raise SessionHeld(None)
            self.leases.require_held(connection, row[0])
            return work(connection, row[0])

        if turn_id in self._held.turns:
            self.return_to_file()
        return self.write(checked)

    def free_pages(self) -> None:
        self._database.free_pages()

    def hold(self, row: SessionRow) -> None:
        """Call this when this process has acquired the lease of the session, or has changed its row."""
        self.leases.held.add(row.id)
        self._held.sessions[row.id] = row

    def let_go(self, session_ids: Iterable[str]) -> None:
        """Call this when this process has released or deleted these sessions."""
        for session_id in session_ids:
            self._held.forget(session_id)
            if self._database.in_memory:
                self._held.changed.add(session_id)

    def begin_turn(self, turn: TurnRow) -> None:
        self._held.turns[turn.id] = turn

    def end_turn(self, turn_id: str) -> None:
        self._held.turns.pop(turn_id, None)

    def take_lost_sessions(self) -> list[str]:
        """The ids of the sessions that another process has taken over since the last call."""
        self.return_to_file()
        lost, self._held.taken_over = self._held.taken_over, []
        if self.leases.held:
            lost += self.write(self.leases.renew)
        for session_id in lost:
            self._held.forget(session_id)
        return lost

    def return_to_file(self, *, force: bool = False) -> None:
        """If sessions are in memory, try to store them in the file; see `Database.return_to_file`."""
        try:
            returned = self._database.return_to_file(force=force)
        except TakenOver as error:
            self._held.taken_over = error.session_ids
            return
        if returned:
            self.problem = ""
            self._held.changed.clear()
            self._failed("the session file can be used again: what was kept in memory is stored")

    def close(self) -> None:
        if self._database.in_memory and self._held.ids:
            self.return_to_file(force=True)
            if self._database.in_memory:
                self._failed("the session file still cannot be used: messages since then are lost")
        self._database.close()

    def _report(self, problem: str, lost: bool, in_memory: bool) -> None:
        kept, missing = "a new file from now on", ""
        if in_memory:
            self.problem = problem
            kept = "memory only until the editor ends" if lost else "memory only until it can be used again"
        if lost:
            missing = "; some of the open sessions could not be read"
        self._failed(f"the session file cannot be used: {problem}. Sessions are kept in {kept}{missing}")
