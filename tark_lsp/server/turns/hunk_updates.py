"""The update `hunks`: for turns of this server, and for earlier turns whose undecided hunks were restored."""

from pathlib import Path

from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.turns.earlier_turns import EarlierTurns
from tark_lsp.server.turns.turn_records import TurnRecords


class HunkUpdates:
    """Sends the update `hunks` to the turns that a file's hunks belong to."""

    def __init__(self, records: TurnRecords, earlier: EarlierTurns, hunks: HunksJson) -> None:
        self._records = records
        self._earlier = earlier
        self._hunks = hunks

    def send_hunks(self, path: Path) -> None:
        """Send all hunks of the file to each turn that has an undecided hunk, or a change since the last update."""
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
