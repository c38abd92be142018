"""A part of a session to be shown: some of its messages, their turns, what the person saw of these; in few reads.

A page begins and ends between messages, which may be in the middle of a turn.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.sessions import log
from tark_lsp.sessions.message_json import message_of_text
from tark_lsp.sessions.rows import StoredMessage, TurnRow
from tark_lsp.sessions.store import SessionStore

END = 2**62
"""After every number of a message and of a row."""
BEFORE = f"{log.MESSAGES} WHERE session = ? AND number < ? ORDER BY number DESC LIMIT ?"
TURNS = "SELECT id, rowid FROM turns WHERE session = ? ORDER BY rowid"
BETWEEN = "session = ? AND rowid BETWEEN ? AND ?"
SHOWN = f"SELECT turn, seq, said FROM updates WHERE turn IN (SELECT id FROM turns WHERE {BETWEEN}) ORDER BY turn, seq"


@dataclass(frozen=True, slots=True)
class Page:
    """`shown`: the updates of each turn, with their `seq`. `begun`: the turn that has messages before the page, and the
    ids of its calls in these. `goes_on`: the turn that has messages after it, or "". `earlier`: any are before it.
    """

    messages: Sequence[StoredMessage]
    turns: Sequence[TurnRow]
    shown: Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]]
    begun: Mapping[str, frozenset[str]]
    goes_on: str
    earlier: bool


def read_page(store: SessionStore, session_id: str, last: int | None = None, before: int | None = None) -> Page:
    """The last messages, or the last before message `before`: so many that `last` are no results; None: all.

    Turns without a message are there, too, each on the page of the message that came after it.
    """
    end = END if before is None else before
    limit = -1 if last is None else 2 * last + 1  # at most one message with results stands between two others
    rows = store.read(BEFORE, session_id, end, limit)
    messages = [log.stored_message(row) for row in reversed(rows)]
    told = [index for index, stored in enumerate(messages) if stored.message.role != "tool"]
    if last is not None and len(told) >= last:
        messages = messages[told[-last] :]
    earlier = bool(messages) and messages[0].number > 1
    of_page = {stored.turn_id for stored in messages}
    places: dict[str, int] = dict(store.read(TURNS, session_id))
    next_turn = "" if before is None else _turn_of(store, session_id, before)
    goes_on = next_turn if next_turn in of_page else ""
    first = min((places[turn] for turn in of_page if turn in places), default=0) if earlier else 0
    final = places.get(next_turn, END) - (not goes_on)
    shown: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for turn, seq, said in store.read(SHOWN, session_id, first, final):
        shown.setdefault(turn, []).append((seq, json.loads(said)))
    turns = store.read(f"{log.TURN} WHERE {BETWEEN} ORDER BY rowid", session_id, first, final)
    begun = _begun(store, session_id, messages[0]) if earlier else {}
    return Page(messages, [log.turn_row(row) for row in turns], shown, begun, goes_on, earlier)


def is_told(store: SessionStore, session_id: str, number: int) -> bool:
    """Is it the number of a message that a page shows?"""
    rows = store.read("SELECT message FROM messages WHERE session = ? AND number = ?", session_id, number)
    return bool(rows) and message_of_text(rows[0][0]).role != "tool"


def _turn_of(store: SessionStore, session_id: str, number: int) -> str:
    rows = store.read("SELECT turn FROM messages WHERE session = ? AND number = ?", session_id, number)
    return str(rows[0][0]) if rows else ""


def _begun(store: SessionStore, session_id: str, first: StoredMessage) -> dict[str, frozenset[str]]:
    sql = "SELECT call_ids FROM messages WHERE session = ? AND turn = ? AND number < ?"
    rows = store.read(sql, session_id, first.turn_id, first.number)
    calls = frozenset(call for (told,) in rows for call in json.loads(told).values())
    return {first.turn_id: calls} if rows and first.turn_id else {}
