"""The sessions that this process holds. Copies them when the database changes its file."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tark_lsp.sessions import log_rows
from tark_lsp.sessions.leases import Leases
from tark_lsp.sessions.rows import SessionRow, TurnRow
from tark_lsp.sessions.schema import COLUMNS, COPIED, FIGURES

if TYPE_CHECKING:
    from sqlite3 import Connection

TURNS = "SELECT id, ended FROM turns WHERE session = ?"


class TakenOver(Exception):
    """Another process holds these sessions, or has written to them."""

    def __init__(self, session_ids: list[str]) -> None:
        super().__init__(*session_ids)
        self.session_ids = session_ids


@dataclass(slots=True)
class HeldSessions:
    """The rows of `sessions` and of unended `turns`. They are enough to continue if the old file cannot be read."""

    leases: Leases
    sessions: dict[str, SessionRow] = field(default_factory=dict)
    turns: dict[str, TurnRow] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    """Sessions that were released or deleted while the database was in memory."""
    taken_over: list[str] = field(default_factory=list)
    """Sessions of this process that another process holds in the new file, and that were not reported yet."""

    @property
    def ids(self) -> set[str]:
        """The sessions that a file should have in the state of this process."""
        return self.leases.held | self.changed

    def forget(self, session_id: str) -> None:
        self.leases.held.discard(session_id)
        self.sessions.pop(session_id, None)
        for turn in [turn for turn in self.turns.values() if turn.session_id == session_id]:
            del self.turns[turn.id]

    def carry(self, old: "Connection", new: "Connection") -> bool:
        """See `Database`. A session that another process has continued in `new` stays as it is there.

        On the way back from memory, this raises TakenOver, so that the caller first decides what to keep. On the way to
        another file, the session is added to `taken_over`.
        """
        returning = _is_in_memory(old)
        others = {session_id for session_id in self.ids if self._is_others(old, new, session_id)}
        taken = sorted(self.leases.held & others)
        if taken and returning:
            raise TakenOver(taken)
        for session_id in taken:
            self.forget(session_id)
        self.taken_over += taken
        complete = self._copy_rows(old, new, self.ids - others, all_figures=returning)
        for session_id in sorted(self.leases.held):
            self.leases.acquire(new, session_id)
        for row in self.sessions.values():
            log_rows.add_session(new, row, or_ignore=True)
        for turn in self.turns.values():
            log_rows.add_turn(new, turn, or_ignore=True)
        return complete

    def _copy_rows(self, old: "Connection", new: "Connection", session_ids: set[str], *, all_figures: bool) -> bool:
        """`all_figures`: also the figures of sessions that were deleted since."""
        from tark_lsp.sqlite_file import copy_rows

        known = {table: set(new.execute(f"SELECT * FROM {table}")) for table in FIGURES}
        complete = True
        for table in FIGURES if all_figures else ():
            complete = copy_rows(old, new, table, f"SELECT * FROM {table}", known=known[table]) and complete
        for session_id in sorted(session_ids):
            values = {"session": session_id}
            for table in () if all_figures else FIGURES:
                own = f"SELECT * FROM {table} WHERE session = :session"
                complete = copy_rows(old, new, table, own, values, known=known[table]) and complete
            for table, where in COPIED.items():
                new.execute(f"DELETE FROM {table} WHERE {where}", values)
                sql = f"SELECT {COLUMNS.get(table, '*')} FROM {table} WHERE {where} ORDER BY rowid"
                complete = copy_rows(old, new, table, sql, values) and complete
        return complete

    def _is_others(self, old: "Connection", new: "Connection", session_id: str) -> bool:
        """Whether another process holds the session, or wrote turns that `old` does not have."""
        if self.leases.holder(new, session_id) is not None:
            return True
        stored = new.execute(TURNS, (session_id,)).fetchall()
        if not stored or not old.execute("SELECT 1 FROM sessions WHERE id = ?", (session_id,)).fetchone():
            return False  # it is missing there, or was deleted here
        known = dict(old.execute(TURNS, (session_id,)))
        return any(turn not in known or ended not in (None, known[turn]) for turn, ended in stored)


def _is_in_memory(connection: "Connection") -> bool:
    """Does not read a page, because the file of `connection` can be damaged."""
    (path,) = connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()
    return not path
