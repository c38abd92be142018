"""`tark.session.restore`: goes back to the state before an earlier prompt, in a fork, and undoes later turns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tark_lsp.agent.prompt import typed_text
from tark_lsp.errors import RequestError
from tark_lsp.server.commands import Command
from tark_lsp.server.connection.early_answers import EarlyAnswer
from tark_lsp.server.hunks.turn_undoing import TurnUndoing
from tark_lsp.server.hunks.undo import undo_json
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.sessions.library import SessionLibrary
from tark_lsp.server.sessions.session_json import message_number, unknown_message
from tark_lsp.server.sessions.sessions import Sessions, held
from tark_lsp.sessions.rows import SessionRow, StoredMessage, TurnRow
from tark_lsp.workspace.checkpoints.turn_undo import UndoResult

Json = dict[str, Any]


class RestoreCommand:
    def __init__(self, turns: TurnUndoing, sessions: Sessions, hunks: HunksJson) -> None:
        self._turns = turns
        self._sessions = sessions
        self._library = SessionLibrary(sessions)
        self._hunks = hunks

    def commands(self) -> Iterable[Command]:
        early = EarlyAnswer(None, _outcome)
        yield Command("tark.session.restore", command_payloads.RestoreSession, self.restore, early=early)

    async def restore(self, request: command_payloads.RestoreSession) -> Json:
        """Raises RequestError if the session has no such prompt, is busy, or belongs to another workspace."""
        row = self._sessions.rows.find_row(request.session_id)
        stored = self._prompt(row, request.message_id)
        later = self._later_turns(row, stored)
        self._refuse_if_busy(row)
        self._refuse_if_held(row)
        changed = [turn.id for turn in reversed(later) if self._turns.changed_here(turn.id)] if request.files else []
        undone = await (self._turns.preview_undo(changed) if request.preview else self._undo(changed))
        by_command = dict.fromkeys(uri for turn in later for uri in (turn.end or {}).get("changedByCommand") or ())
        for path in self._turns.restorable(changed):
            by_command.pop(self._hunks.uri(path), None)
        first = next((turn for turn in later if turn.id == stored.turn_id), None)
        answer = {
            "prompt": (first.prompt if first is not None else "") or typed_text(stored.message),
            "turns": changed,
            **undo_json(undone, self._hunks),
            "changedByCommand": list(by_command) if request.files else [],
        }
        if request.preview:
            return answer
        forked = self._library.fork(row.id, "", stored.number - 1)
        return {"session": self._sessions.rows.json(forked), **answer}

    async def _undo(self, turn_ids: Sequence[str]) -> UndoResult:
        """Undo the turns, the newest first."""
        undone = UndoResult((), ())
        for turn_id in turn_ids:
            undone = undone.followed_by(await self._turns.undo(turn_id))
        return undone

    def _prompt(self, row: SessionRow, message_id: str) -> StoredMessage:
        """The message that begins a turn, or a message that the session began with."""
        number = message_number(row.id, message_id)
        messages = self._sessions.store.log.messages(row.id)
        stored = next((message for message in messages if message.number == number), None)
        if stored is None or stored.message.role == "tool":
            raise unknown_message(row.id, message_id)
        begun = any(message.turn_id == stored.turn_id for message in messages if message.number < number)
        if stored.message.role != "user" or (stored.turn_id and begun):
            raise RequestError(
                f"messageId: {message_id!r} is not the prompt of a turn", hint="name the message that began the turn"
            )
        return stored

    def _later_turns(self, row: SessionRow, stored: StoredMessage) -> Sequence[TurnRow]:
        """The turn of the prompt, and all turns after it."""
        turns = self._sessions.store.log.turns(row.id)
        first = next((at for at, turn in enumerate(turns) if turn.id == stored.turn_id), 0)
        return turns[first:]

    def _refuse_if_busy(self, row: SessionRow) -> None:
        if self._sessions.live.is_busy(row.id):
            raise RequestError(
                "sessionId: a turn of this session is running", hint="cancel it first, or wait for its end"
            )

    def _refuse_if_held(self, row: SessionRow) -> None:
        if not self._sessions.rows.is_here(row):
            raise RequestError("sessionId: this session belongs to another workspace", hint="fork it to continue here")
        if (holder := self._sessions.look(row)) is not None:
            raise held(holder)


def _outcome(result: Mapping[str, Any]) -> str:
    """The message for the user of an editor that could not wait."""
    count = len(result["restored"])
    done = f"undid the changes in {count} file{'s' * (count != 1)}" if count else "no file was changed"
    return f"Tark: the session continues from before that prompt; {done}"
