"""One answer in a chat: converts the events of its turn to text for the document, from beginning to end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.events import CallStatus
from tark_lsp.agent.session import Session
from tark_lsp.messages import StopReason
from tark_lsp.prose import Prose
from tark_lsp.server.chat.answer_text import AnswerText
from tark_lsp.server.chat.transcript import Said, Section, conversation
from tark_lsp.server.chat.writer import AnswerWriter
from tark_lsp.visible import cut, visible
from tark_lsp.workspace.lines import split_lines

LONGEST_NOTE = 300
WENT_WRONG = {CallStatus.FAILED: "failed", CallStatus.REJECTED: "rejected"}
"""The final states of a call that get a line. Other states can be seen from what follows."""


@dataclass(eq=False, slots=True)
class ChatAnswer:
    """The `Follower` of one turn. `asked`: the conversation that it answers, including the user's last message."""

    path: Path
    session: Session
    asked: Sequence[Said]
    writer: AnswerWriter
    text: AnswerText
    changed: Callable[["ChatAnswer"], None]
    """Called when the answer begins and ends."""
    turn_id: str = ""
    begun: bool = False
    ended: bool = False
    _messages: int = 0
    _titles: dict[str, str] = field(default_factory=dict)
    _prose: Prose = field(default_factory=Prose)
    _written: list[str] = field(default_factory=list)

    async def begin_answer(self) -> None:
        """Raises RequestError if the answer cannot be written."""
        self.begun = True
        self._messages = len(self.session.messages)
        self.changed(self)
        await self.writer.begin()

    def on_turn_event(self, event: events.AgentEvent) -> None:
        match event:
            case events.TextChunk(delta):
                self._write(self.text.add_text(delta))
            case events.CallChanged(call_id, status, name, title):
                self._call(call_id, status, name or "", title)
            case events.Notice(level, message) if level != "info":
                self._note(message)
            case _:
                pass

    async def end_answer(self, end: dict[str, Any]) -> bool:
        """Return False if not all of the answer is in the document."""
        match end["stopReason"]:
            case StopReason.CANCELLED:
                self._note("cancelled")
            case StopReason.ERROR:
                error = end["error"]
                self._note(f"error: {error['message'].rstrip('.')}" + (f" ({error['hint']})" if error["hint"] else ""))
            case StopReason.MAX_TOKENS | StopReason.REFUSAL as reason:
                self._note(f"the answer ended early ({reason.replace('_', ' ')})")
            case _:
                pass
        self._write(self.text.end_text())
        self._append(self._prose.end())
        try:
            return await self.writer.finish()
        finally:
            self.ended = True
            self.changed(self)

    @property
    def known(self) -> bool:
        """Did the session get new messages? It did not if the turn failed before the model was called."""
        return len(self.session.messages) > self._messages

    @property
    def conversation(self) -> list[Said]:
        """The conversation with this answer as it was written, without later changes by the user."""
        lines = split_lines("".join(self._written))
        return [*self.asked, *conversation(lines, [Section("Tark", 0, 0, len(lines))])]

    def _call(self, call_id: str, status: CallStatus, name: str, title: str | None) -> None:
        """Write one line when the purpose of the call is known, and one if it fails."""
        if title and call_id not in self._titles:
            self._titles[call_id] = title
            self._note(title)
        if status in WENT_WRONG:
            self._note(f"{WENT_WRONG[status]}: {self._titles.get(call_id, name)}")

    def _note(self, line: str) -> None:
        self._write(self.text.add_note(cut(visible(line), LONGEST_NOTE)))

    def _write(self, text: str) -> None:
        self._append(self._prose.add(text))

    def _append(self, text: str) -> None:
        self._written.append(text)
        self.writer.write(text)
