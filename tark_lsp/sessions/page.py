"""Reads a part of a session for display: some of its messages, their turns and updates, in few queries.

A page begins and ends between messages, which can be in the middle of a turn.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.sessions import log_rows
from tark_lsp.sessions.message_json import message_of_text
from tark_lsp.sessions.rows import StoredMessage, TurnRow
from tark_lsp.sessions.store import SessionStore

END = 2**62
"""Higher than every number of a message or row."""
BEFORE = f"{log_rows.MESSAGES} WHERE session = ? AND number < ? ORDER BY number DESC LIMIT ?"
TURNS = "SELECT id, rowid FROM turns WHERE session = ? ORDER BY rowid"
BETWEEN = "session = ? AND rowid BETWEEN ? AND ?"
SHOWN = f"SELECT turn, seq, said FROM updates WHERE turn IN (SELECT id FROM turns WHERE {BETWEEN}) ORDER BY turn, seq"


@dataclass(frozen=True, slots=True)
class Page:
    """`shown`: the updates of each turn, with their `seq`. `earlier_calls`: the turn that has messages before the page,
    and the ids of the calls in them. `continued_turn`: the turn that has messages after the page, or "". `earlier`:
    whether there are messages before the page.
    """

    messages: Sequence[StoredMessage]
    turns: Sequence[TurnRow]
    shown: Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]]
    earlier_calls: Mapping[str, frozenset[str]]
    continued_turn: str
    earlier: bool


def read_page(store: SessionStore, session_id: str, last: int | None = None, before: int | None = None) -> Page:
    """The last messages of the session, or the last messages before message `before`. `last`: how many messages, not
    counting tool results; None: all.

    A turn without messages is on the page of the message that follows it.
    """
    end = END if before is None else before
    limit = -1 if last is None else 2 * last + 1  # at most one message with results is between two others
    rows = store.file.read(BEFORE, session_id, end, limit)
    messages = [log_rows.stored_message(row) for row in reversed(rows)]
    told = [index for index, stored in enumerate(messages) if stored.message.role != "tool"]
    if last is not None and len(told) >= last:
        messages = messages[told[-last] :]
    earlier = bool(messages) and messages[0].number > 1
    of_page = {stored.turn_id for stored in messages}
    places: dict[str, int] = dict(store.file.read(TURNS, session_id))
    next_turn = "" if before is None else _turn_of(store, session_id, before)
    continued_turn = next_turn if next_turn in of_page else ""
    first = min((places[turn] for turn in of_page if turn in places), default=0) if earlier else 0
    final = places.get(next_turn, END) - (not continued_turn)
    shown: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for turn, seq, said in store.file.read(SHOWN, session_id, first, final):
        shown.setdefault(turn, []).append((seq, json.loads(said)))
    turns = store.file.read(f"{log_rows.TURN} WHERE {BETWEEN} ORDER BY rowid", session_id, first, final)
    earlier_calls = _earlier_calls(store, session_id, messages[0]) if earlier else {}
    return Page(messages, [log_rows.turn_row(row) for row in turns], shown, earlier_calls, continued_turn, earlier)


def is_shown_message(store: SessionStore, session_id: str, number: int) -> bool:
    """Whether `number` is the number of a message that pages show."""
    rows = store.file.read("SELECT message FROM messages WHERE session = ? AND number = ?", session_id, number)
    return bool(rows) and message_of_text(rows[0][0]).role != "tool"


def _turn_of(store: SessionStore, session_id: str, number: int) -> str:
    rows = store.file.read("SELECT turn FROM messages WHERE session = ? AND number = ?", session_id, number)
    return str(rows[0][0]) if rows else ""


def _earlier_calls(store: SessionStore, session_id: str, first: StoredMessage) -> dict[str, frozenset[str]]:
    sql = "SELECT call_ids FROM messages WHERE session = ? AND turn = ? AND number < ?"
    rows = store.file.read(sql, session_id, first.turn_id, first.number)
    calls = frozenset(call for (told,) in rows for call in json.loads(told).values())
    return {first.turn_id: calls} if rows and first.turn_id else {}
