"""Turns of servers before this one, as far as there are hunks of theirs yet: what a client is told of these."""

from pathlib import Path

from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.sessions.titles import turn_title
from tark_lsp.server.turns.updates import Updates
from tark_lsp.sessions.store import SessionStore


class EarlierTurns:
    def __init__(self, connection: Connection, hunks: HunksJson, store: SessionStore) -> None:
        self._connection = connection
        self._hunks = hunks
        self._store = store
        self._updates: dict[str, Updates] = {}

    def came_back(self, turn_id: str) -> None:
        """Hunks of it did. Its updates begin again with 1, as the client of this server has seen none.

        Where its session was deleted, they are of a session without an id.
        """
        if turn_id not in self._updates:
            row = self._store.turn(turn_id)
            self._updates[turn_id] = Updates(self._connection, row.session_id if row is not None else "", turn_id)

    def title(self, turn_id: str) -> str:
        """What people call it; empty where it is not known."""
        row = self._store.turn(turn_id) if turn_id in self._updates else None
        return "" if row is None else turn_title(row.prompt, row.kind)

    def hunks_changed(self, path: Path) -> None:
        """Tell each turn that has hunks in the file how all of that file's stand."""
        if not self._updates:
            return
        update = self._hunks.of(path)
        for turn_id in dict.fromkeys(hunk["turnId"] for hunk in update["hunks"]):
            if turn_id in self._updates:
                self._updates[turn_id].send("hunks", **update)
