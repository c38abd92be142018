"""The requests of the turns that made hunks, including turns of earlier servers."""

from tark_lsp.agent.kinds import KINDS
from tark_lsp.agent.session import Session
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.turn_records import TurnRecords


class AskedTurns:
    def __init__(self, records: TurnRecords, sessions: Sessions) -> None:
        self._records = records
        self._sessions = sessions

    def is_known(self, turn_id: str) -> bool:
        """False for a turn of an earlier server whose session was deleted."""
        return self._records.get_turn(turn_id) is not None or self._sessions.store.log.find_turn(turn_id) is not None

    def find_asked(self, turn_id: str) -> tuple[str, str]:
        """The request of the turn, and the id of its session. Raises RequestError for an unknown turn."""
        if (record := self._records.get_turn(turn_id)) is not None:
            asked = record.kind.prompt_text(record.request.prompt).strip()
            return asked or record.kind.instructions, record.session.id
        turn = self._sessions.rows.find_turn(turn_id)
        kind = KINDS.get(turn.kind)
        return turn.prompt.strip() or (kind.instructions if kind is not None else turn.kind), turn.session_id

    def open_session(self, session_id: str) -> Session | None:
        """The session; None if it was deleted. Raises RequestError if it cannot be continued."""
        sessions = self._sessions
        exists = session_id in sessions.live or sessions.store.find_session(session_id) is not None
        return sessions.use(session_id) if exists else None

    def new_session(self) -> Session:
        return self._sessions.new()
