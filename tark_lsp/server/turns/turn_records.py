"""The turns that this server remembers: all that run or wait, and the last ones that ended."""

from collections import OrderedDict
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.sessions.shown_turn import RunningTurn
from tark_lsp.server.sessions.title_text import turn_title
from tark_lsp.server.turns.earlier_turns import EarlierTurns
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.server.turns.updates import Updates
from tark_lsp.sessions.store import SessionStore

REMEMBERED_TURNS = 200


class TurnRecords:
    def __init__(self, store: SessionStore, earlier: EarlierTurns) -> None:
        """`store` also knows the turns of earlier servers. `earlier`: those for which this server sends updates."""
        self._store = store
        self._earlier = earlier
        self._records: OrderedDict[str, TurnRecord] = OrderedDict()

    def remember(self, record: TurnRecord) -> None:
        self._records[record.id] = record

    def forget_old(self) -> None:
        """Forget turns that ended, except for the last ones."""
        over = [record for record in self._records.values() if record.over]
        for record in over[: max(0, len(over) - REMEMBERED_TURNS)]:
            del self._records[record.id]

    def get_turn(self, turn_id: str) -> TurnRecord | None:
        return self._records.get(turn_id)

    def find_turn(self, turn_id: str) -> TurnRecord:
        """Raises RequestError for an unknown id."""
        record = self._records.get(turn_id)
        if record is None:
            raise RequestError(f"turnId: there is no turn {turn_id!r}")
        return record

    def is_known(self, turn_id: str) -> bool:
        """Whether the turn is one of this server, or a stored one of an earlier server."""
        return turn_id in self._records or self._store.log.find_turn(turn_id) is not None

    def title(self, turn_id: str) -> str:
        """The title of a turn of this or an earlier server; empty for an unknown id."""
        if (record := self._records.get(turn_id)) is not None:
            return turn_title(record.request.prompt, record.kind.name)
        row = self._store.log.find_turn(turn_id)
        return "" if row is None else turn_title(row.prompt, row.kind)

    def running_turn(self, turn_id: str) -> RunningTurn | None:
        """For `tark.session.open`. None if this server sent nothing about the turn."""
        record = self._records.get(turn_id)
        if record is None:
            sent = self._earlier.updates_of(turn_id)
            return None if sent is None else RunningTurn(sent.seq, False, ())
        return RunningTurn(record.updates.seq, record.task is None, tuple(record.steering))

    def updates_of(self, turn_id: str) -> Updates:
        """The updates of a turn of this or an earlier server."""
        record = self._records.get(turn_id)
        return self._earlier.begin_updates(turn_id) if record is None else record.updates

    def active_turns(self) -> list[TurnRecord]:
        """The turns that run or wait, in their order."""
        return [record for record in self._records.values() if not record.over]

    def is_active(self, turn_id: str) -> bool:
        record = self._records.get(turn_id)
        return record is not None and not record.over

    def state(self, session_id: str | None) -> list[dict[str, Any]]:
        """For `tark.state`. `session_id`: only the turns of this session; None: all."""
        return [record.state_json() for record in self.active_turns() if session_id in (None, record.session.id)]
