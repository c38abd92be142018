"""Interrupted sessions: keeps the messages of a session that another process takes over, and reports interrupted turns.

If a session is taken over while its turns run here, a copy is stored as a separate session. It begins with the earlier
messages, followed by the turns from here, even turns that only waited. The original belongs to the other process, which
ended these turns and may continue the session.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from tark_lsp.server.sessions.live import RecentTurns
from tark_lsp.server.sessions.title_text import turn_title
from tark_lsp.sessions.rows import SessionRow, TurnRow
from tark_lsp.sessions.store import SessionStore


def store_apart(store: SessionStore, old_id: str, row: SessionRow, recent: RecentTurns) -> None:
    """Store the session `row` with the earlier messages of `old_id`, followed by its recent turns."""
    before = {
        "",
        *(turn.id for turn in takewhile(lambda turn: turn.id not in recent.turns, store.log.turns(old_id))),
    }
    last = max((stored.number for stored in store.log.messages(old_id) if stored.turn_id in before), default=0)
    try:
        store.fork_session(old_id, row.id, row.title, last)
    except KeyError:  # the other process deleted it
        store.create_session(row)
    for turn in recent.turns.values():
        copy = replace(turn, id=f"turn-{secrets.token_hex(6)}", session_id=row.id)
        store.log.begin_turn(copy)
        for turn_id, message, call_ids in recent.messages:
            if turn_id == turn.id:
                store.log.add_message(row.id, copy.id, message, call_ids)
        store.log.end_turn(copy.id, {**recent.ends[turn.id], "sessionId": row.id, "turnId": copy.id})
    store.release_leases(row.id)


def interrupted_turns(turns: Iterable[tuple[TurnRow, Sequence[tuple[int, Mapping[str, Any]]]]]) -> str:
    """A message about turns, given with their updates, that ended with their server. Empty for no turns."""
    titles: dict[bool, list[str]] = {True: [], False: []}
    for turn, updates in turns:
        started = any(update.get("kind") == "start" for _, update in updates)
        titles[started].append(f"“{turn_title(turn.prompt, turn.kind)}”")
    words = {
        True: "interrupted when the server ended: what was done until then is kept.",
        False: "not started when the server ended: send it again.",
    }
    of = (
        (", ".join(names), "was" if len(names) == 1 else "were", words[started])
        for started, names in titles.items()
        if names
    )
    return " ".join(f"{names} {verb} {rest}" for names, verb, rest in of)
