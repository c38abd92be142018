"""The commands `tark.turn.steer`, `tark.turn.cancel` and `tark.turn.wait`."""

from collections.abc import Iterable, Mapping
from typing import Any

from tark_lsp.server.commands import Command
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.sessions.library import SessionLibrary
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.answer_display import AnswerDisplay
from tark_lsp.server.turns.title_request import Titles
from tark_lsp.server.turns.turn_records import TurnRecords
from tark_lsp.server.turns.turns import Turns


class TurnCommands:
    def __init__(
        self, turns: Turns, records: TurnRecords, sessions: Sessions, titles: Titles, display: AnswerDisplay
    ) -> None:
        self._turns = turns
        self._records = records
        self._sessions = sessions
        self._titles = titles
        self._display = display

    def commands(self) -> Iterable[Command]:
        yield Command("tark.turn.steer", command_payloads.Steer, self.steer)
        yield Command("tark.turn.cancel", command_payloads.CancelTurns, self.cancel)
        yield Command("tark.turn.wait", command_payloads.WaitTurn, self.wait)

    async def steer(self, request: command_payloads.Steer) -> Any:
        return {"accepted": self._records.find_turn(request.turn_id).steer(request.prompt)}

    async def cancel(self, request: command_payloads.CancelTurns) -> Any:
        if request.turn_id is not None:
            self._records.find_turn(request.turn_id)
        if request.session_id is not None:
            self._sessions.rows.find_row(request.session_id)
        if request.turn_id is None:
            self._titles.cancel(request.session_id)
        return {"cancelled": self._turns.cancel(request.turn_id, request.session_id)}

    async def wait(self, request: command_payloads.WaitTurn) -> Any:
        """Waits for the end of a turn. A turn that this server does not know can be one of an earlier server."""
        record = self._records.get_turn(request.turn_id)
        if record is not None:
            end: Mapping[str, Any] = await record.wait(request.work_done_token)
            heading = self._records.title(request.turn_id)
        else:
            heading, end = SessionLibrary(self._sessions).end_of(request.turn_id)
        if request.show:
            await self._display.show_answer(request.turn_id, heading, end)
        return end
