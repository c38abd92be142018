"""The update `hunks`: for turns of this server, and for earlier ones whose undecided hunks came back."""

from pathlib import Path

from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.turns.turn_records import TurnRecords
from tark_lsp.server.turns.updates import Updates
from tark_lsp.sessions.store import SessionStore


class EarlierTurns:
    """The turns of earlier servers that have hunks in this one, and the updates that are sent for them."""

    def __init__(self, connection: Connection, store: SessionStore) -> None:
        self._connection = connection
        self._store = store
        self._updates: dict[str, Updates] = {}

    def came_back(self, turn_id: str) -> None:
        """Hunks of the turn are here again. Its updates are numbered from 1: the client of this server has seen none.

        If its session was deleted, the session id of the updates is empty.
        """
        if turn_id not in self._updates:
            row = self._store.log.find_turn(turn_id)
            self._updates[turn_id] = Updates(self._connection, row.session_id if row is not None else "", turn_id)

    def updates_of(self, turn_id: str) -> Updates | None:
        return self._updates.get(turn_id)


class HunkUpdates:
    """Sends the update `hunks` to the turns that a file's hunks belong to."""

    def __init__(self, records: TurnRecords, earlier: EarlierTurns, hunks: HunksJson) -> None:
        self._records = records
        self._earlier = earlier
        self._hunks = hunks

    def send_hunks(self, path: Path) -> None:
        """Send all hunks of the file to each turn with one that is undecided, or that changed since the last update."""
        update = self._hunks.of(path)
        states: dict[str, list[tuple[str, str, bool]]] = {}
        for hunk in update["hunks"]:
            states.setdefault(hunk["turnId"], []).append((hunk["hunkId"], hunk["state"], hunk["applied"]))
        for turn_id, own in states.items():
            record = self._records.get_turn(turn_id)
            undecided = any(state == "pending" for _, state, _ in own)
            if record is not None and (undecided or record.shown_hunks.get(path) != own):
                record.shown_hunks[path] = own
                record.updates.send("hunks", **update)
        for turn_id in states:
            if (updates := self._earlier.updates_of(turn_id)) is not None:
                updates.send("hunks", **update)
