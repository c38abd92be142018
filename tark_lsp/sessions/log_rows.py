"""Reads and writes rows of the two logs of a session: what the model is sent, and what the user was shown.

The functions run within a transaction of the caller, which holds the session (leases.py).
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

if TYPE_CHECKING:  # most imports below are needed only when a session is used
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
    (SELECT sum(cost_usd) FROM usage WHERE session = sessions.id),
    coalesce((SELECT name FROM agents WHERE session = sessions.id), '') FROM sessions"""
SET_AGENT = "INSERT OR REPLACE INTO agents (session, name) VALUES (?, ?)"
MESSAGES = "SELECT number, turn, time, message, call_ids, seq FROM messages"
UPDATES = "SELECT seq, said FROM updates WHERE turn = ? ORDER BY seq"
FILES_WITH_HUNKS = "SELECT DISTINCT path FROM kept_hunks WHERE instr(hunks, ?)"
TOLD = "SELECT summary, told_from, shortened_before FROM sessions WHERE id = ?"
LAST = "SELECT coalesce(max(number), 0) FROM messages WHERE session = ?"
GONE = ("text", "thinking")
"""The kinds of updates whose text is in the messages when the turn has ended."""
LATEST = ("plan", "usage")
"""The kinds of updates for which only the last one counts."""


def add_session(connection: "Connection", row: SessionRow, *, or_ignore: bool = False) -> None:
    values = (row.id, clean(row.title), row.created, row.updated, blob_of(row.folders), row.model, row.mode)
    connection.execute(_insert(ADD_SESSION, or_ignore), (*values, row.approval, row.thinking, row.parent))
    if row.agent:
        connection.execute(SET_AGENT, (row.id, row.agent))


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
    """Returns the number of the message."""
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
    """End the turn and merge its updates: delete what the messages have, and keep only the last state of the rest."""
    sql = "UPDATE turns SET ended = ?, ending = ? WHERE id = ?"
    connection.execute(sql, (time.time(), json_text(end), turn_id))
    # There can be tens of thousands, so they are deleted without reading them.
    connection.execute(
        f"DELETE FROM updates WHERE turn = ? AND kind IN ({', '.join('?' * len(GONE))})", (turn_id, *GONE)
    )
    kept = merged(updates(connection.execute(UPDATES, (turn_id,)).fetchall()))
    connection.execute("DELETE FROM updates WHERE turn = ?", (turn_id,))
    for seq, update in kept:
        add_update(connection, turn_id, seq, update)
    touch(connection, session_id)


def merged(shown: Iterable[tuple[int, Mapping[str, Any]]]) -> list[tuple[int, Mapping[str, Any]]]:
    """One update for each tool call, the plan and the usage, with the `seq` of its first one; no text or thinking."""
    kept: dict[object, tuple[int, Mapping[str, Any]]] = {}
    for seq, update in shown:
        kind = update.get("kind")
        if kind in GONE:
            continue
        key = (kind, update.get("toolCallId")) if kind == "toolCall" or kind in LATEST else seq
        first, before = kept.get(key, (seq, {}))
        kept[key] = first, {**before, **update} if kind == "toolCall" else update
    return list(kept.values())


def import_rows(session_id: str, exported: "Exported") -> "Callable[[Connection], None]":
    """Returns the work that inserts an exported session, with new turn ids, into a session without messages.

    Turns that had not ended are marked as interrupted. Everything slow is done here, before the transaction, because
    other processes wait for the transaction.
    """
    from tark_lsp.sessions.message_json import message_text

    renamed = {turn.id: f"turn-{secrets.token_hex(6)}" for turn in exported.turns}
    messages = [
        (session_id, number, renamed.get(stored.turn_id, ""), stored.time, message_text(stored.message),
         json_text(stored.call_ids), stored.seq)
        for number, stored in enumerate(exported.messages, 1)
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
                repair_turn(connection, turn)

    return work


def repair_turn(connection: "Connection", turn: TurnRow) -> TurnRow:
    """End an interrupted turn, so that the history can be sent. Returns the ended turn."""
    from tark_lsp.sessions.repair import repair

    rows = connection.execute(f"{MESSAGES} WHERE session = ? AND turn = ? ORDER BY number", (turn.session_id, turn.id))
    shown = updates(connection.execute(UPDATES, (turn.id,)).fetchall())
    of_turn = json.dumps({"turn_id": turn.id}, separators=(",", ":"))[1:-1]
    waiting = [Path(os.fsdecode(path)) for (path,) in connection.execute(FILES_WITH_HUNKS, (of_turn,))]
    repaired = repair(turn, [stored_message(row) for row in rows], shown, waiting)
    for message in repaired.messages:
        add_message(connection, turn.session_id, turn.id, message)
    last = shown[-1][0] if shown else 0
    for seq, update in enumerate(repaired.updates, last + 1):
        add_update(connection, turn.id, seq, update)
    end_turn(connection, turn.id, turn.session_id, repaired.end)
    return turn_row(connection.execute(f"{TURN} WHERE id = ?", (turn.id,)).fetchone())


def touch(connection: "Connection", session_id: str) -> None:
    connection.execute("UPDATE sessions SET updated = max(updated, ?) WHERE id = ?", (time.time(), session_id))


def mark_shortened(connection: "Connection", session_id: str, kept: int) -> None:
    """Record that only the last `kept` messages are still sent in full."""
    ((last,),) = connection.execute(LAST, (session_id,))
    sql = "UPDATE sessions SET shortened_before = max(shortened_before, ?) WHERE id = ?"
    connection.execute(sql, (last - kept + 1, session_id))


def mark_compacted(connection: "Connection", session_id: str, summary: Message, kept: int) -> None:
    """Record that `summary` replaces all messages except the last `kept`."""
    from tark_lsp.sessions.message_json import message_text

    ((last,),) = connection.execute(LAST, (session_id,))
    sql = "UPDATE sessions SET summary = ?, told_from = max(told_from, ?) WHERE id = ?"
    connection.execute(sql, (message_text(summary), last - kept + 1, session_id))


def history(told: tuple[str | None, int, int], rows: Iterable[tuple[int, str]]) -> History:
    """`told` is a row selected by TOLD, `rows` the number and text of each message from `told_from` on."""
    from tark_lsp.agent import shortening
    from tark_lsp.sessions.message_json import message_of_text
    from tark_lsp.sessions.repair import valid_history

    summary, told_from, shortened_before = told
    stored = [] if summary is None else [message_of_text(summary)]
    count = 0
    for number, text in rows:
        message = message_of_text(text)
        old = told_from <= number < shortened_before
        stored.append(shortening.shorten_message(message) if old else message)
        count = len(stored) if old else count
    messages = tuple(valid_history(stored))
    return History(messages, count if len(messages) == len(stored) else 0)


def stored_message(row: tuple[Any, ...]) -> StoredMessage:
    """From a row selected by MESSAGES."""
    from tark_lsp.sessions.message_json import message_of_text

    number, turn_id, when, text, call_ids, seq = row
    return StoredMessage(number, turn_id, when, message_of_text(text), json.loads(call_ids), seq)


def turn_row(row: tuple[Any, ...]) -> TurnRow:
    """From a row selected by TURN."""
    id_, session_id, prompt, kind, model, began, ended, end, request = row
    told = None if end is None else json.loads(end)
    return TurnRow(id_, session_id, prompt, kind, model, began, ended, told, json.loads(request))


def updates(rows: Iterable[tuple[int, str]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Updates with their `seq`, from rows selected by UPDATES."""
    return [(seq, json.loads(said)) for seq, said in rows]


def session_row(row: tuple[Any, ...]) -> SessionRow:
    """From a row selected by SESSIONS."""
    id_, title, created, updated, folders, model, mode, approval, thinking, parent, turns, cost, agent = row
    modes = Mode(mode), ApprovalLevel(approval)
    return SessionRow(
        id_, title, created, updated, paths_of(folders), model, *modes, thinking, parent, turns, cost, agent
    )


def blob_of(folders: Iterable[Path]) -> bytes:
    return b"\0".join(os.fsencode(folder) for folder in folders)


def paths_of(blob: bytes) -> tuple[Path, ...]:
    return tuple(Path(os.fsdecode(folder)) for folder in blob.split(b"\0") if folder)


def _insert(into: str, or_ignore: bool) -> str:
    return f"INSERT {'OR IGNORE ' if or_ignore else ''}{into}"


def json_text(value: Any) -> str:
    """ASCII, so that lone surrogates do no harm. Raises TypeError for a value that JSON does not have."""
    return json.dumps(dict(value), separators=(",", ":"))


def clean(text: str) -> str:
    """Editors can send lone surrogates, which SQLite does not accept."""
    return text.encode("utf-8", "replace").decode("utf-8")
