"""SessionLog: what is stored of the turns of sessions: messages, updates and ends."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tark_lsp.messages import Message
from tark_lsp.sessions import log_rows
from tark_lsp.sessions.rows import COPY_OF, History, StoredMessage, TurnRow
from tark_lsp.sessions.session_file import SessionFile

if TYPE_CHECKING:
    from sqlite3 import Connection

UNENDED = "session = ? AND ended IS NULL ORDER BY rowid"


class SessionLog:
    """Each call is one transaction. Calls that write raise SessionHeld if this process does not hold the session."""

    def __init__(self, file: SessionFile) -> None:
        self._file = file

    def begin_turn(self, turn: TurnRow) -> None:
        self._file.write_held(turn.session_id, lambda connection: log_rows.add_turn(connection, turn))
        self._file.begin_turn(turn)

    def add_message(
        self, session_id: str, turn_id: str, message: Message, call_ids: Mapping[str, str] | None = None
    ) -> int:
        """Returns its number in the session. `call_ids` maps the provider's id of each of its calls to Tark's id."""
        return self._file.write_held(
            session_id, lambda connection: log_rows.add_message(connection, session_id, turn_id, message, call_ids)
        )

    def add_update(self, turn_id: str, seq: int, update: Mapping[str, Any]) -> None:
        self._file.write_turn(turn_id, lambda connection, _: log_rows.add_update(connection, turn_id, seq, update))

    def end_turn(self, turn_id: str, end: Mapping[str, Any]) -> None:
        """End a turn and merge its updates: text and thinking go (messages have them), calls keep their last state."""
        self._file.write_turn(turn_id, lambda connection, session: log_rows.end_turn(connection, turn_id, session, end))
        self._file.end_turn(turn_id)

    def mark_shortened(self, session_id: str, kept: int) -> None:
        """From now on the model is sent shortened tool results, except in the last `kept` messages."""
        self._file.write_held(session_id, lambda connection: log_rows.mark_shortened(connection, session_id, kept))

    def mark_compacted(self, session_id: str, summary: Message, kept: int) -> None:
        """From now on the model is sent `summary` instead of all messages except the last `kept`."""
        self._file.write_held(
            session_id, lambda connection: log_rows.mark_compacted(connection, session_id, summary, kept)
        )

    def history(self, session_id: str) -> History:
        """What the model is sent of the session, always valid; empty if the session does not exist."""
        told = self._file.read(log_rows.TOLD, session_id)
        if not told:
            return History(())
        sql = "SELECT number, message FROM messages WHERE session = ? AND number >= ? ORDER BY number"
        return log_rows.history(told[0], self._file.read(sql, session_id, told[0][1]))

    def messages(self, session_id: str) -> list[StoredMessage]:
        """All messages of the session, in order."""
        rows = self._file.read(f"{log_rows.MESSAGES} WHERE session = ? ORDER BY number", session_id)
        return [log_rows.stored_message(row) for row in rows]

    def find_turn(self, turn_id: str) -> TurnRow | None:
        rows = self._file.read(f"{log_rows.TURN} WHERE id = ?", log_rows.clean(turn_id))
        return log_rows.turn_row(rows[0]) if rows else None

    def turns(self, session_id: str) -> list[TurnRow]:
        rows = self._file.read(f"{log_rows.TURN} WHERE session = ? ORDER BY rowid", session_id)
        return [log_rows.turn_row(row) for row in rows]

    def copies_of(self, origin: str) -> list[TurnRow]:
        """The turn with this id, and its copies in forks."""
        named = json.dumps({COPY_OF: origin}, separators=(",", ":"))[1:-1]
        rows = self._file.read(f"{log_rows.TURN} WHERE id = ? OR instr(request, ?)", log_rows.clean(origin), named)
        return [turn for turn in map(log_rows.turn_row, rows) if turn.origin == origin]

    def unended_turns(self, session_id: str) -> list[TurnRow]:
        rows = self._file.read(f"{log_rows.TURN} WHERE {UNENDED}", session_id)
        return [log_rows.turn_row(row) for row in rows]

    def updates(self, turn_id: str) -> list[tuple[int, Mapping[str, Any]]]:
        """The updates that the user was shown, with their `seq`. They are merged when the turn has ended."""
        return log_rows.updates(self._file.read(log_rows.UPDATES, turn_id))

    def repair_turns(self, session_id: str) -> list[TurnRow]:
        """End the turns that were interrupted with their process (repair.py), and return them.

        Call this after the lease is acquired, before a turn of the session runs here.
        """

        def work(connection: "Connection") -> list[TurnRow]:
            rows = connection.execute(f"{log_rows.TURN} WHERE {UNENDED}", (session_id,)).fetchall()
            return [log_rows.repair_turn(connection, log_rows.turn_row(row)) for row in rows]

        return self._file.write_held(session_id, work)
