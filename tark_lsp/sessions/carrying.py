"""What this process needs of the sessions' file, and how that gets to the next one when the file cannot be used.

And back from memory, when it can be used again: what was stored or deleted meanwhile takes the place of what the file
has of those sessions. Where another process went on with one of them, that one is no longer ours.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tark_lsp.sessions import log
from tark_lsp.sessions.leases import Leases
from tark_lsp.sessions.rows import SessionRow, TurnRow
from tark_lsp.sessions.schema import ROWS_OF

if TYPE_CHECKING:
    from sqlite3 import Connection

COLUMNS = {"kept_hunks": "NULL, lease, path, digest, text, hunks"}
"""Of a table whose numbers mean nothing in another file; all of the others."""
TURNS = "SELECT id, ended FROM turns WHERE session = ?"


class TakenOver(Exception):
    """Another process has these sessions, or went on with them."""

    def __init__(self, session_ids: list[str]) -> None:
        super().__init__(*session_ids)
        self.session_ids = session_ids


@dataclass(slots=True)
class Carrying:
    """`sessions` that are ours, our `turns` that have not ended: enough to go on where the file has nothing left."""

    leases: Leases
    sessions: dict[str, SessionRow] = field(default_factory=dict)
    turns: dict[str, TurnRow] = field(default_factory=dict)
    given_back: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    """While in memory."""

    @property
    def is_needed(self) -> bool:
        """Whether there is anything that a file should have."""
        return bool(self.leases.held or self.given_back or self.deleted)

    def ours(self, row: SessionRow | None) -> None:
        if row is not None:
            self.sessions[row.id] = row

    def forget(self, session_id: str) -> None:
        self.sessions.pop(session_id, None)
        for turn in [turn for turn in self.turns.values() if turn.session_id == session_id]:
            del self.turns[turn.id]

    def carry(self, old: "Connection", new: "Connection") -> bool:
        """All rows of what is ours; False: some could not be read. Within a transaction of `new`."""
        whole = True
        for session_id in sorted(self.leases.held):
            whole = _copy(old, new, session_id) and whole
            self.leases.take(new, session_id)
        for row in self.sessions.values():
            log.add_session(new, row, or_ignore=True)
        for turn in self.turns.values():
            log.add_turn(new, turn, or_ignore=True)
        return whole

    def bring(self, memory: "Connection", file: "Connection") -> None:
        """Within a transaction of the file. Raises TakenOver."""
        taken = [session_id for session_id in sorted(self.leases.held) if self._is_others(memory, file, session_id)]
        if taken:
            raise TakenOver(taken)
        for session_id in sorted(self.leases.held | self.given_back | self.deleted):
            if session_id not in self.leases.held and self._is_others(memory, file, session_id):
                continue
            for table, where in ROWS_OF.items():
                if table != "usage":
                    file.execute(f"DELETE FROM {table} WHERE {where}", {"session": session_id})
            if not _copy(memory, file, session_id, but=("usage",)):
                raise OSError(f"what is in memory of {session_id} cannot be read")
            if session_id in self.leases.held:
                self.leases.take(file, session_id)
        used = set(file.execute("SELECT * FROM usage"))
        new = [row for row in memory.execute("SELECT * FROM usage") if row not in used]
        if new:
            file.executemany(f"INSERT INTO usage VALUES ({', '.join('?' * len(new[0]))})", new)

    def _is_others(self, memory: "Connection", file: "Connection", session_id: str) -> bool:
        """Whether another process has it, or wrote what we do not have."""
        if self.leases.holder(file, session_id) is not None:
            return True
        if session_id in self.deleted:
            return False
        known = dict(memory.execute(TURNS, (session_id,)))
        there = file.execute(TURNS, (session_id,)).fetchall()
        return any(turn not in known or ended not in (None, known[turn]) for turn, ended in there)


def _copy(old: "Connection", new: "Connection", session_id: str, but: tuple[str, ...] = ()) -> bool:
    """All rows of a session but of these tables, in their order; False: some could not be read."""
    from tark_lsp.sqlite_file import copy_rows

    wanted = {
        table: f"SELECT {COLUMNS.get(table, '*')} FROM {table} WHERE {where} ORDER BY rowid"
        for table, where in ROWS_OF.items()
        if table not in but
    }
    return copy_rows(old, new, wanted, {"session": session_id})
