"""SessionStore: the sessions of all workspaces in one file that outlives the servers; else in memory.

Each call is one transaction, and what it stored is stored when it returns. Nothing is opened before the first call.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tark_lsp.database import Database
from tark_lsp.messages import Message
from tark_lsp.sessions import leases, log, usage
from tark_lsp.sessions.carrying import Carrying, TakenOver
from tark_lsp.sessions.rows import History, Holder, SessionHeld, SessionRow, StoredMessage, TurnRow, UsageRow
from tark_lsp.sessions.schema import LAYOUT, TEXT_OF

if TYPE_CHECKING:
    from sqlite3 import Connection

    from tark_lsp.sessions.export import Exported

UNENDED = "session = ? AND ended IS NULL ORDER BY rowid"
CHANGEABLE = ("title", "model", "mode", "approval", "thinking", "folders")
T = TypeVar("T")


class SessionStore:
    """For one thread."""

    def __init__(self, locate: Callable[[], Path], failed: Callable[[str], None]) -> None:
        """`locate()` gives the file, in a folder that is there. Where it raises OSError: in memory.

        `failed(problem)` is told in words for people what could not be stored, and what was done about it.
        """
        self._failed = failed
        self.leases = leases.Leases()
        self._carrying = Carrying(self.leases)
        self._database = Database(locate, LAYOUT, self._carrying.carry, self._tell)

    def create(self, row: SessionRow, messages: Sequence[Message] = ()) -> None:
        """And it is ours to write."""

        def work(connection: "Connection") -> None:
            log.add_session(connection, row)
            self.leases.take(connection, row.id)
            for message in messages:
                log.add_message(connection, row.id, "", message)

        self._database.write(work)
        self._hold(row)

    def take_in(self, row: SessionRow, exported: "Exported") -> None:
        """A session with what was exported of another; it is ours to write."""
        add = log.take_in(row.id, exported)

        def work(connection: "Connection") -> None:
            log.add_session(connection, row)
            self.leases.take(connection, row.id)
            add(connection)

        self._database.write(work)
        self._hold(row)

    def change(self, session_id: str, **columns: str | Sequence[Path] | None) -> None:
        """Those of CHANGEABLE. Raises SessionHeld where another process has it."""
        assert set(columns) <= set(CHANGEABLE), "these alone change"
        values = [_value(value) for value in columns.values()]
        sql = f"UPDATE sessions SET {', '.join(f'{name} = ?' for name in columns)} WHERE id = ?"

        def work(connection: "Connection") -> None:
            self._check_free(connection, session_id)
            connection.execute(sql, (*values, session_id))

        self._database.write(work)
        if session_id in self.leases.held:
            self._carrying.ours(self.session(session_id))

    def session(self, session_id: str) -> SessionRow | None:
        rows = self._database.read(f"{log.SESSIONS} WHERE id = ?", session_id)
        return log.session_row(rows[0]) if rows else None

    def sessions(self) -> list[SessionRow]:
        """Of all workspaces; the newest first."""
        rows = self._database.read(f"{log.SESSIONS} ORDER BY updated DESC, created DESC")
        return [log.session_row(row) for row in rows]

    def delete(self, session_id: str) -> None:
        """Its text goes, its usage stays. Raises SessionHeld where another process has it."""

        def work(connection: "Connection") -> None:
            self._check_free(connection, session_id)
            for table, where in TEXT_OF.items():
                connection.execute(f"DELETE FROM {table} WHERE {where}", {"session": session_id})

        self._database.write(work)
        self._database.shorten()
        self._let_go({session_id})
        if self._database.in_memory:
            self._carrying.deleted.add(session_id)

    def fork(self, session_id: str, new_id: str, title: str, number: int | None) -> SessionRow:
        """A new session, ours to write, with what was said up to message `number` (None: all); see forking.py.

        Whoever has the other one. Raises KeyError where there is none.
        """
        from tark_lsp.sessions.forking import fork

        def work(connection: "Connection") -> None:
            if not fork(connection, session_id, new_id, title, number):
                raise KeyError(session_id)
            self.leases.take(connection, new_id)

        self._database.write(work)
        row = self.session(new_id)
        assert row is not None, "it is ours, so nobody deletes it"
        self._hold(row)
        return row

    def take(self, session_id: str) -> Holder | None:
        """None: it is ours to write now; else who has it."""
        holder = self._database.write(lambda connection: self.leases.take(connection, session_id))
        if holder is None:
            self.leases.held.add(session_id)
            self._carrying.ours(self.session(session_id))
        return holder

    def holder(self, session_id: str) -> Holder | None:
        """Who has it, but for us and nobody."""
        return self.leases.others(self._database.read(f"{leases.ALL} WHERE session = ?", session_id)).get(session_id)

    def holders(self) -> dict[str, Holder]:
        """Who has which session, but for those that are ours or nobody's."""
        return self.leases.others(self._database.read(leases.ALL))

    def beat(self) -> list[str]:
        """To be called every 5 s; ids of the sessions that another process took over.

        Where sessions are kept in memory the file is tried again.
        """
        lost = self._come_back(wait=False)
        if self.leases.held:
            lost += self._database.write(self.leases.beat)
        self._let_go(lost)
        return lost

    def release(self, session_id: str | None = None) -> None:
        """Give it back, or all that are ours."""
        given = self.leases.held & ({session_id} if session_id is not None else self.leases.held)
        if given:
            self._database.write(lambda connection: self.leases.give_back(connection, given))
            self._let_go(given)
        if self._database.in_memory:
            self._carrying.given_back |= given

    def begin_turn(self, turn: TurnRow) -> None:
        self._add(turn.session_id, lambda connection: log.add_turn(connection, turn))
        self._carrying.turns[turn.id] = turn

    def add_message(
        self, session_id: str, turn_id: str, message: Message, call_ids: Mapping[str, str] | None = None
    ) -> int:
        """Its number in the session."""
        return self._add(
            session_id, lambda connection: log.add_message(connection, session_id, turn_id, message, call_ids)
        )

    def add_update(self, turn_id: str, seq: int, update: Mapping[str, Any]) -> None:
        self._add_to_turn(turn_id, lambda connection, _: log.add_update(connection, turn_id, seq, update))

    def end_turn(self, turn_id: str, end: Mapping[str, Any]) -> None:
        """And merge its updates: text and thinking go (they are in the messages), tool calls keep their last state."""
        self._add_to_turn(turn_id, lambda connection, session: log.end_turn(connection, turn_id, session, end))
        self._carrying.turns.pop(turn_id, None)

    def shortened(self, session_id: str, kept: int) -> None:
        """The tool results in all but the last `kept` messages are told shortened."""
        self._add(session_id, lambda connection: log.shortened(connection, session_id, kept))

    def compacted(self, session_id: str, summary: Message, kept: int) -> None:
        """`summary` stands for all but the last `kept` messages."""
        self._add(session_id, lambda connection: log.compacted(connection, session_id, summary, kept))

    def history(self, session_id: str) -> History:
        """As it is told, and sendable; empty for a session that is not there."""
        told = self._database.read(log.TOLD, session_id)
        if not told:
            return History(())
        sql = "SELECT number, message FROM messages WHERE session = ? AND number >= ? ORDER BY number"
        return log.history(told[0], self._database.read(sql, session_id, told[0][1]))

    def messages(self, session_id: str) -> list[StoredMessage]:
        """All of them, in their order."""
        rows = self._database.read(f"{log.MESSAGES} WHERE session = ? ORDER BY number", session_id)
        return [log.stored_message(row) for row in rows]

    def turn(self, turn_id: str) -> TurnRow | None:
        rows = self._database.read(f"{log.TURN} WHERE id = ?", turn_id)
        return log.turn_row(rows[0]) if rows else None

    def turns(self, session_id: str) -> list[TurnRow]:
        rows = self._database.read(f"{log.TURN} WHERE session = ? ORDER BY rowid", session_id)
        return [log.turn_row(row) for row in rows]

    def unended(self, session_id: str) -> list[TurnRow]:
        rows = self._database.read(f"{log.TURN} WHERE {UNENDED}", session_id)
        return [log.turn_row(row) for row in rows]

    def updates(self, turn_id: str) -> list[tuple[int, Mapping[str, Any]]]:
        """What the person was shown, by its `seq`; merged once the turn is over."""
        return log.updates(self._database.read(log.UPDATES, turn_id))

    def mend(self, session_id: str) -> list[TurnRow]:
        """End its turns that were cut off with their process (mending.py), all at once; those turns as they are then.

        To be called when it was taken, while no turn of it runs here.
        """

        def work(connection: "Connection") -> list[TurnRow]:
            rows = connection.execute(f"{log.TURN} WHERE {UNENDED}", (session_id,)).fetchall()
            return [log.mend_turn(connection, log.turn_row(row)) for row in rows]

        return self._add(session_id, work)

    def add_usage(self, row: UsageRow) -> None:
        """Of a request to a model; whoever has the session."""
        self._database.write(lambda connection: usage.add(connection, row))

    def read(self, sql: str, *values: Any) -> list[Any]:
        return self._database.read(sql, *values)

    def write(self, work: "Callable[[Connection], T]") -> T:
        """In one transaction, which may be done again on another file."""
        return self._database.write(work)

    def close(self) -> None:
        """What could be kept in memory only, and cannot be stored now either, is gone; that is said."""
        if self._carrying.is_needed and self._database.in_memory:
            self._come_back(wait=True)
        if self._carrying.is_needed and self._database.in_memory:
            self._failed("the sessions' file still cannot be used: what was said since then is lost")
        self._database.close()

    def _come_back(self, *, wait: bool) -> list[str]:
        """From memory to the file, if it can be used again; ids of the sessions that another process took over."""
        try:
            if self._database.come_back(self._carrying.bring, wait=wait):
                self._carrying.given_back.clear()
                self._carrying.deleted.clear()
                self._failed("the sessions' file can be used again: what was kept in memory is stored")
        except TakenOver as error:
            return error.session_ids
        return []

    def _hold(self, row: SessionRow) -> None:
        self.leases.held.add(row.id)
        self._carrying.ours(row)

    def _let_go(self, session_ids: Iterable[str]) -> None:
        for session_id in session_ids:
            self.leases.held.discard(session_id)
            self._carrying.forget(session_id)

    def _add(self, session_id: str, work: "Callable[[Connection], T]") -> T:
        """Raises SessionHeld where the session is not ours."""

        def checked(connection: "Connection") -> T:
            self.leases.check(connection, session_id)
            return work(connection)

        return self._database.write(checked)

    def _add_to_turn(self, turn_id: str, work: "Callable[[Connection, str], T]") -> T:
        def checked(connection: "Connection") -> T:
            row = connection.execute("SELECT session FROM turns WHERE id = ?", (turn_id,)).fetchone()
            if row is None:  # its session was deleted meanwhile
                raise SessionHeld(None)
            self.leases.check(connection, row[0])
            return work(connection, row[0])

        return self._database.write(checked)

    def _check_free(self, connection: "Connection", session_id: str) -> None:
        holder = self.leases.holder(connection, session_id)
        if holder is not None:
            raise SessionHeld(holder)

    def _tell(self, problem: str, lost: bool, in_memory: bool) -> None:
        kept, gone = "a new file from now on", ""
        if in_memory:
            kept = "memory only until the editor ends" if lost else "memory only until it can be used again"
        if lost:
            gone = "; some of the sessions at hand could not be read"
        self._failed(f"the sessions' file cannot be used: {problem}. Sessions are kept in {kept}{gone}")


def _value(value: str | Sequence[Path] | None) -> str | bytes | None:
    if value is None:
        return None
    return log.clean(value) if isinstance(value, str) else log.blob_of(value)
