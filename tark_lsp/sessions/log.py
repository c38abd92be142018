"""The two logs of a session within one transaction: what the model is told, and what the person was shown.

Whoever calls this has the session to write (leases.py).
"""

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.messages import ApprovalLevel, Message, Mode
from tark_lsp.sessions.rows import History, SessionRow, StoredMessage, TurnRow

if TYPE_CHECKING:  # most of what is imported below is not needed before a session is used
    from sqlite3 import Connection

    from tark_lsp.sessions.export import Exported

ADD_SESSION = (
    "INTO sessions (id, title, created, updated, folders, model, mode, approval, thinking, parent)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
ADD_TURN = (
    "INTO turns (id, session, prompt, kind, model, began, ended, ending, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
ADD_MESSAGE = (
    "INSERT INTO messages (session, number, turn, time, message, call_ids, seq) VALUES (:session,"
    " (SELECT coalesce(max(number), 0) + 1 FROM messages WHERE session = :session), :turn, :time, :message, :call_ids,"
    " coalesce((SELECT max(seq) FROM updates WHERE turn = :turn), 0)) RETURNING number"
)
ADD_STORED = "INSERT INTO messages (session, number, turn, time, message, call_ids, seq) VALUES (?, ?, ?, ?, ?, ?, ?)"
ADD_UPDATE = "INSERT INTO updates (turn, seq, kind, said) VALUES (?, ?, ?, ?)"
TURN = "SELECT id, session, prompt, kind, model, began, ended, ending, request FROM turns"
SESSIONS = """SELECT id, title, created, updated, folders, model, mode, approval, thinking, parent,
    (SELECT count(*) FROM turns WHERE session = sessions.id),
    (SELECT sum(cost_usd) FROM usage WHERE session = sessions.id) FROM sessions"""
MESSAGES = "SELECT number, turn, time, message, call_ids, seq FROM messages"
UPDATES = "SELECT seq, said FROM updates WHERE turn = ? ORDER BY seq"
TOLD = "SELECT summary, told_from, shortened_before FROM sessions WHERE id = ?"
LAST = "SELECT coalesce(max(number), 0) FROM messages WHERE session = ?"
GONE = ("text", "thinking")
"""Kinds of updates that the messages have whole once their turn is over."""
LATEST = ("plan", "usage")
"""Kinds of updates of which the last one says all."""


def add_session(connection: "Connection", row: SessionRow, *, or_ignore: bool = False) -> None:
    values = (row.id, clean(row.title), row.created, row.updated, blob_of(row.folders), row.model, row.mode)
    connection.execute(_insert(ADD_SESSION, or_ignore), (*values, row.approval, row.thinking, row.parent))


def add_turn(connection: "Connection", turn: TurnRow, *, or_ignore: bool = False) -> None:
    end = None if turn.end is None else json_text(turn.end)
    values = (turn.id, turn.session_id, clean(turn.prompt), turn.kind, turn.model, turn.began, turn.ended, end)
    connection.execute(_insert(ADD_TURN, or_ignore), (*values, json_text(turn.request)))
    touch(connection, turn.session_id)


def add_message(
    connection: "Connection",
    session_id: str,
    turn_id: str,
    message: Message,
    call_ids: Mapping[str, str] | None = None,
) -> int:
    """Its number."""
    from tark_lsp.sessions.message_json import message_text

    values = {
        "session": session_id,
        "turn": turn_id,
        "time": time.time(),
        "message": message_text(message),
        "call_ids": json_text(call_ids) if call_ids else "{}",
    }
    ((number,),) = connection.execute(ADD_MESSAGE, values).fetchall()
    return int(number)


def add_update(connection: "Connection", turn_id: str, seq: int, update: Mapping[str, Any]) -> None:
    connection.execute(ADD_UPDATE, _update_row(turn_id, seq, update))


def _update_row(turn_id: str, seq: int, update: Mapping[str, Any]) -> tuple[str, int, str, str]:
    return turn_id, seq, clean(str(update.get("kind", ""))), json_text(update)


def end_turn(connection: "Connection", turn_id: str, session_id: str, end: Mapping[str, Any]) -> None:
    """And merge what the person was shown of it: what the messages have goes, the rest is kept as it stood last."""
    sql = "UPDATE turns SET ended = ?, ending = ? WHERE id = ?"
    connection.execute(sql, (time.time(), json_text(end), turn_id))
    # There may be tens of thousands of these, which are not read just to be dropped.
    connection.execute(
        f"DELETE FROM updates WHERE turn = ? AND kind IN ({', '.join('?' * len(GONE))})", (turn_id, *GONE)
    )
    kept = merged(updates(connection.execute(UPDATES, (turn_id,)).fetchall()))
    connection.execute("DELETE FROM updates WHERE turn = ?", (turn_id,))
    for seq, update in kept:
        add_update(connection, turn_id, seq, update)
    touch(connection, session_id)


def merged(shown: Iterable[tuple[int, Mapping[str, Any]]]) -> list[tuple[int, Mapping[str, Any]]]:
    """One update for each tool call, one for the plan and the usage, at their first places; text and thinking go."""
    kept: dict[object, tuple[int, Mapping[str, Any]]] = {}
    for seq, update in shown:
        kind = update.get("kind")
        if kind in GONE:
            continue
        key = (kind, update.get("toolCallId")) if kind == "toolCall" or kind in LATEST else seq
        first, before = kept.get(key, (seq, {}))
        kept[key] = first, {**before, **update} if kind == "toolCall" else update
    return list(kept.values())


def take_in(session_id: str, exported: "Exported") -> "Callable[[Connection], None]":
    """What was exported, with turn ids of its own; turns that had not ended then end as cut off ones do.

    Of a session that has nothing yet. The work of it is done here: others wait as long as the transaction takes.
    """
    from tark_lsp.sessions.message_json import message_text

    renamed = {turn.id: f"turn-{secrets.token_hex(6)}" for turn in exported.turns}
    messages = [
        (session_id, number, renamed.get(each.turn_id, ""), each.time, message_text(each.message),
         json_text(each.call_ids), each.seq)
        for number, each in enumerate(exported.messages, 1)
    ]  # fmt: skip
    turns: list[TurnRow] = []
    shown: list[tuple[str, int, str, str]] = []
    for turn in exported.turns:
        ids = {"sessionId": session_id, "turnId": renamed[turn.id]}
        end = None if turn.end is None else {**turn.end, **ids}
        turns.append(replace(turn, id=ids["turnId"], session_id=session_id, end=end))
        for seq, update in exported.updates[turn.id]:
            told = {**update, **ids} if update.get("kind") == "end" else update
            shown.append(_update_row(ids["turnId"], seq, told))

    def work(connection: "Connection") -> None:
        connection.executemany(ADD_STORED, messages)
        connection.executemany(ADD_UPDATE, shown)
        for turn in turns:
            add_turn(connection, turn)
            if turn.ended is None:
                mend_turn(connection, turn)

    return work


def mend_turn(connection: "Connection", turn: TurnRow) -> TurnRow:
    """End a turn whose process ended, so that the history can be sent; the turn as it is then."""
    from tark_lsp.sessions.mending import mend

    rows = connection.execute(f"{MESSAGES} WHERE session = ? AND turn = ? ORDER BY number", (turn.session_id, turn.id))
    shown = updates(connection.execute(UPDATES, (turn.id,)).fetchall())
    mended = mend(turn, [stored_message(row) for row in rows], shown)
    for message in mended.messages:
        add_message(connection, turn.session_id, turn.id, message)
    last = shown[-1][0] if shown else 0
    for seq, update in enumerate(mended.updates, last + 1):
        add_update(connection, turn.id, seq, update)
    end_turn(connection, turn.id, turn.session_id, mended.end)
    return turn_row(connection.execute(f"{TURN} WHERE id = ?", (turn.id,)).fetchone())


def touch(connection: "Connection", session_id: str) -> None:
    connection.execute("UPDATE sessions SET updated = max(updated, ?) WHERE id = ?", (time.time(), session_id))


def shortened(connection: "Connection", session_id: str, kept: int) -> None:
    """`kept` messages at the end of those that are told are told whole."""
    ((last,),) = connection.execute(LAST, (session_id,))
    sql = "UPDATE sessions SET shortened_before = max(shortened_before, ?) WHERE id = ?"
    connection.execute(sql, (last - kept + 1, session_id))


def compacted(connection: "Connection", session_id: str, summary: Message, kept: int) -> None:
    """`summary` stands for all but `kept` messages at the end."""
    from tark_lsp.sessions.message_json import message_text

    ((last,),) = connection.execute(LAST, (session_id,))
    sql = "UPDATE sessions SET summary = ?, told_from = max(told_from, ?) WHERE id = ?"
    connection.execute(sql, (message_text(summary), last - kept + 1, session_id))


def history(told: tuple[str | None, int, int], rows: Iterable[tuple[int, str]]) -> History:
    """`told` as TOLD gives it, `rows` the number and text of each message from `told_from` on."""
    from tark_lsp.agent import shortening
    from tark_lsp.sessions.mending import sendable
    from tark_lsp.sessions.message_json import message_of_text

    summary, told_from, shortened_before = told
    stored = [] if summary is None else [message_of_text(summary)]
    count = 0
    for number, text in rows:
        message = message_of_text(text)
        old = told_from <= number < shortened_before
        stored.append(shortening.shortened(message) if old else message)
        count = len(stored) if old else count
    messages = tuple(sendable(stored))
    return History(messages, count if len(messages) == len(stored) else 0)


def stored_message(row: tuple[Any, ...]) -> StoredMessage:
    """Of a row that MESSAGES gives."""
    from tark_lsp.sessions.message_json import message_of_text

    number, turn_id, when, text, call_ids, seq = row
    return StoredMessage(number, turn_id, when, message_of_text(text), json.loads(call_ids), seq)


def turn_row(row: tuple[Any, ...]) -> TurnRow:
    """Of a row that TURN gives."""
    id_, session_id, prompt, kind, model, began, ended, end, request = row
    told = None if end is None else json.loads(end)
    return TurnRow(id_, session_id, prompt, kind, model, began, ended, told, json.loads(request))


def updates(rows: Iterable[tuple[int, str]]) -> list[tuple[int, Mapping[str, Any]]]:
    """By their `seq`, of rows that UPDATES gives."""
    return [(seq, json.loads(said)) for seq, said in rows]


def session_row(row: tuple[Any, ...]) -> SessionRow:
    """Of a row that SESSIONS gives."""
    id_, title, created, updated, folders, model, mode, approval, thinking, parent, turns, cost = row
    modes = Mode(mode), ApprovalLevel(approval)
    return SessionRow(id_, title, created, updated, paths_of(folders), model, *modes, thinking, parent, turns, cost)


def blob_of(folders: Iterable[Path]) -> bytes:
    return b"\0".join(os.fsencode(folder) for folder in folders)


def paths_of(blob: bytes) -> tuple[Path, ...]:
    return tuple(Path(os.fsdecode(folder)) for folder in blob.split(b"\0") if folder)


def _insert(into: str, or_ignore: bool) -> str:
    return f"INSERT {'OR IGNORE ' if or_ignore else ''}{into}"


def json_text(value: Any) -> str:
    """ASCII, so that lone surrogates do not matter. Raises TypeError for what is no JSON."""
    return json.dumps(dict(value), separators=(",", ":"))


def clean(text: str) -> str:
    """An editor may send lone surrogates, which SQLite does not take."""
    return text.encode("utf-8", "replace").decode("utf-8")
