"""Forks a session: copies it up to a message, within one transaction.

The copied turns get new ids and keep their updates. They name the turn that they are copies of, because the changes of
that turn can be undone from both sessions. Their cost stays with the original session.
"""

import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tark_lsp.messages import StopReason
from tark_lsp.sessions import log_rows
from tark_lsp.sessions.repair import NOTHING_USED
from tark_lsp.sessions.rows import COPY_OF

if TYPE_CHECKING:
    from sqlite3 import Connection

COPY_SESSION = """INSERT INTO sessions SELECT :new, :title, :now, :now, folders, model, mode, approval, thinking, id,
    CASE WHEN told_from <= :number + 1 THEN summary END, CASE WHEN told_from <= :number + 1 THEN told_from ELSE 1 END,
    shortened_before FROM sessions WHERE id = :old"""
"""Omits a summary of later messages. Copies the settings."""
COPY_MESSAGES = """INSERT INTO messages SELECT :new, number, :new_turn, time, message, call_ids, seq FROM messages
    WHERE session = :old AND turn = :old_turn AND number BETWEEN :first AND :last"""
COPY_RESULTS = "INSERT INTO results SELECT :new, id, size, text FROM results WHERE session = :old ORDER BY rowid"
COPY_AGENT = "INSERT INTO agents SELECT :new, name FROM agents WHERE session = :old"
COPY_DEFERRED = "INSERT INTO deferred_tools SELECT :new, tools FROM deferred_tools WHERE session = :old"
SEQ = "SELECT seq FROM messages WHERE session = ? AND number = ?"
FOLLOWING = "SELECT turn FROM messages WHERE session = ? AND number = ?"
EXTENT = """SELECT turn, min(number), max(number) FROM messages WHERE session = :old AND number <= :number GROUP BY turn
    ORDER BY max(number)"""
"""Each turn with copied messages, and the numbers of its first and last copied message."""


def fork(connection: "Connection", old: str, new: str, title: str, number: int | None) -> bool:
    """Copy the messages up to `number` (None: all). If the last message has calls, their results are copied as well. If
    they have no results yet, the message is omitted.

    Returns False if the session does not exist.
    """
    number = _whole(connection, old, number)
    values = {"old": old, "new": new, "title": log_rows.clean(title), "now": time.time(), "number": number}
    if not connection.execute(COPY_SESSION, values).rowcount:
        return False
    connection.execute(COPY_RESULTS, values)
    connection.execute(COPY_DEFERRED, values)
    connection.execute(COPY_AGENT, values)
    for turn, first, last in connection.execute(EXTENT, values).fetchall():
        new_turn = f"turn-{secrets.token_hex(6)}" if turn else ""
        extent = {"old_turn": turn, "new_turn": new_turn, "first": first, "last": last}
        connection.execute(COPY_MESSAGES, {**values, **extent})
        if turn:
            _copy_turn(connection, turn, new_turn, new, last)
    return True


def _whole(connection: "Connection", session: str, number: int | None) -> int:
    """The number of the last message to copy, so that every call has its result."""
    ((end,),) = connection.execute(log_rows.LAST, (session,))
    last = int(end) if number is None else max(0, min(number, end))
    rows = connection.execute(f"{log_rows.MESSAGES} WHERE session = ? AND number = ?", (session, last)).fetchall()
    if rows and log_rows.stored_message(rows[0]).message.tool_calls:
        return last + 1 if last < end else last - 1
    return last


def _copy_turn(connection: "Connection", turn: str, new_turn: str, session: str, last: int) -> None:
    row = log_rows.turn_row(connection.execute(f"{log_rows.TURN} WHERE id = ?", (turn,)).fetchone())
    ((seq,),) = connection.execute(SEQ, (row.session_id, last))
    following = connection.execute(FOLLOWING, (row.session_id, last + 1)).fetchone()
    cut = row.end is None or following == (turn,)
    ids = {"sessionId": session, "turnId": new_turn}
    end: Mapping[str, Any] = {**CUT, **ids} if cut or row.end is None else {**row.end, **ids}
    ended = time.time() if row.ended is None else row.ended
    request = {**row.request, COPY_OF: row.origin}
    copy = replace(row, id=new_turn, session_id=session, ended=ended, end=end, request=request)
    log_rows.add_turn(connection, copy)
    shown = log_rows.updates(connection.execute(log_rows.UPDATES, (turn,)).fetchall())
    for at, update in log_rows.merged((at, update) for at, update in shown if not cut or at <= seq):
        log_rows.add_update(connection, new_turn, at, {"kind": "end", **end} if update.get("kind") == "end" else update)


CUT: Mapping[str, Any] = {
    "stopReason": StopReason.CANCELLED,
    "text": "",
    "edits": [],
    "changedByCommand": [],
    "usage": NOTHING_USED,
}
"""The end of a turn whose beginning alone is copied."""
