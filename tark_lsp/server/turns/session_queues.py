"""The queue of each session. Its turns run one after another, and wait during a compaction of the session."""

from tark_lsp.errors import RequestError
from tark_lsp.server.turns.turn_record import TurnRecord


class SessionQueues:
    def __init__(self) -> None:
        self._queues: dict[str, list[TurnRecord]] = {}
        self._held: set[str] = set()

    def join(self, record: TurnRecord) -> int:
        """Adds a turn. Returns how many are ahead of it; at 0, it can begin."""
        queue = self._queues.setdefault(record.session.id, [])
        queue.append(record)
        return len(queue) - 1 + (record.session.id in self._held)

    def leave(self, record: TurnRecord) -> TurnRecord | None:
        """Remove a turn that ended or was cancelled. Returns the turn that is now the first of its session."""
        queue = self._queues[record.session.id]
        queue.remove(record)
        if queue:
            return queue[0]
        del self._queues[record.session.id]
        return None

    def hold(self, session_id: str) -> None:
        """Makes turns of the session wait. Raises RequestError if they already do."""
        if session_id in self._held:
            raise RequestError("sessionId: the session is being compacted already", hint="wait for its end")
        self._held.add(session_id)

    def release(self, session_id: str) -> TurnRecord | None:
        """Lets turns of the session run again. Returns the turn that can begin now, if any."""
        self._held.discard(session_id)
        queue = self._queues.get(session_id)
        return queue[0] if queue else None

    def is_held(self, session_id: str) -> bool:
        return session_id in self._held
