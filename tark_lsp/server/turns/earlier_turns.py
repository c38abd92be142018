"""Updates for turns of earlier servers, about restored hunks and undo."""

from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.turns.updates import Updates
from tark_lsp.sessions.store import SessionStore


class EarlierTurns:
    """The turns of earlier servers for which this server sends updates."""

    def __init__(self, connection: Connection, store: SessionStore) -> None:
        self._connection = connection
        self._store = store
        self._updates: dict[str, Updates] = {}

    def came_back(self, turn_id: str) -> None:
        """Must be called when hunks of the turn were restored."""
        self.begin_updates(turn_id)

    def begin_updates(self, turn_id: str) -> Updates:
        """The updates of the turn. They are numbered from 1, because the client of this server has seen none.

        If the session was deleted, the session id of the updates is empty.
        """
        if turn_id not in self._updates:
            row = self._store.log.find_turn(turn_id)
            self._updates[turn_id] = Updates(self._connection, row.session_id if row is not None else "", turn_id)
        return self._updates[turn_id]

    def updates_of(self, turn_id: str) -> Updates | None:
        return self._updates.get(turn_id)
