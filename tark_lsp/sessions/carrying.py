"""What this process needs of the sessions' file, and how that gets to the next one when the file cannot be used."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tark_lsp.sessions import log
from tark_lsp.sessions.leases import Leases
from tark_lsp.sessions.rows import SessionRow, TurnRow
from tark_lsp.sessions.schema import ROWS_OF

if TYPE_CHECKING:
    from sqlite3 import Connection


@dataclass(slots=True)
class Carrying:
    """`sessions` that are ours, our `turns` that have not ended: enough to go on where the file has nothing left."""

    leases: Leases
    sessions: dict[str, SessionRow] = field(default_factory=dict)
    turns: dict[str, TurnRow] = field(default_factory=dict)

    def ours(self, row: SessionRow | None) -> None:
        if row is not None:
            self.sessions[row.id] = row

    def forget(self, session_id: str) -> None:
        self.sessions.pop(session_id, None)
        for turn in [turn for turn in self.turns.values() if turn.session_id == session_id]:
            del self.turns[turn.id]

    def carry(self, old: "Connection", new: "Connection") -> bool:
        """All rows of what is ours; False: some could not be read. Within a transaction of `new`."""
        from tark_lsp.sqlite_file import copy_rows

        wanted = {table: f"SELECT * FROM {table} WHERE {where}" for table, where in ROWS_OF.items()}
        whole = True
        for session_id in sorted(self.leases.held):
            whole = copy_rows(old, new, wanted, {"session": session_id}) and whole
            self.leases.take(new, session_id)
        for row in self.sessions.values():
            log.add_session(new, row, or_ignore=True)
        for turn in self.turns.values():
            log.add_turn(new, turn, or_ignore=True)
        return whole
