"""A session in memory, what was said in it since it was last idle, and how that is kept where another process takes it.

It becomes a session of its own, begun with what the other one held before: what that process did with it since (it
ended our turns, and may go on) is none of ours, and what was asked here, even of a turn that still waited, is kept.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from tark_lsp.agent.session import Session
from tark_lsp.messages import Message
from tark_lsp.server.sessions.titles import turn_title
from tark_lsp.sessions.rows import SessionRow, TurnRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.sessions.usage import usage_total


@dataclass(slots=True)
class Meanwhile:
    """`turns` and `ends` by the turn's id; `messages` with their turn's id and the ids of their calls."""

    turns: dict[str, TurnRow] = field(default_factory=dict)
    ends: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    messages: list[tuple[str, Message, Mapping[str, str]]] = field(default_factory=list)


@dataclass(slots=True)
class Live:
    """`stored`: its settings as they are in the store, None before it is there; `turns`: the ids of those that run or
    wait; `meanwhile`: all since there was none."""

    session: Session
    stored: dict[str, Any] | None = None
    turns: set[str] = field(default_factory=set)
    meanwhile: Meanwhile = field(default_factory=Meanwhile)


def in_memory(store: SessionStore, row: SessionRow) -> Session:
    """As it is stored, with the settings of `row`."""
    history, used = store.history(row.id), usage_total(store.read, session_id=row.id).usage
    modes = (row.mode, row.approval, row.thinking)
    messages = list(history.messages)
    return Session(row.id, row.model, *modes, messages, usage=used, shortened=history.shortened, title=row.title)


def keep_apart(store: SessionStore, old_id: str, row: SessionRow, meanwhile: Meanwhile) -> None:
    """Store the session `row` with what `old_id` held before, and with what was said meanwhile."""
    before = {"", *(turn.id for turn in takewhile(lambda turn: turn.id not in meanwhile.turns, store.turns(old_id)))}
    last = max((stored.number for stored in store.messages(old_id) if stored.turn_id in before), default=0)
    try:
        store.fork(old_id, row.id, row.title, last)
    except KeyError:  # it was deleted there; what was said here is another's
        store.create(row)
    for turn in meanwhile.turns.values():
        copy = replace(turn, id=f"turn-{secrets.token_hex(6)}", session_id=row.id)
        store.begin_turn(copy)
        for turn_id, message, call_ids in meanwhile.messages:
            if turn_id == turn.id:
                store.add_message(row.id, copy.id, message, call_ids)
        store.end_turn(copy.id, {**meanwhile.ends[turn.id], "sessionId": row.id, "turnId": copy.id})
    store.release(row.id)


def cut_off(turns: Iterable[tuple[TurnRow, Sequence[tuple[int, Mapping[str, Any]]]]]) -> str:
    """What the person is told of turns, each with its updates, that ended with their server; "" of none."""
    titles: dict[bool, list[str]] = {True: [], False: []}
    for turn, updates in turns:
        begun = any(update.get("kind") == "start" for _, update in updates)
        titles[begun].append(f"“{turn_title(turn.prompt, turn.kind)}”")
    words = {
        True: "cut off when the server ended: what was done until then is kept.",
        False: "not begun when the server ended: send it again.",
    }
    of = (
        (", ".join(names), "was" if len(names) == 1 else "were", words[begun])
        for begun, names in titles.items()
        if names
    )
    return " ".join(f"{names} {verb} {rest}" for names, verb, rest in of)
