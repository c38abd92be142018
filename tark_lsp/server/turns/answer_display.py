"""Shows answers, errors and notices of turns if the client does not understand `updates`."""

from collections.abc import Mapping
from typing import Any

from tark_lsp.messages import StopReason
from tark_lsp.prose import prose_line
from tark_lsp.server.asking.questions import ERROR, INFO, WARNING, Questions
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.protocol.readable_text import answer_document
from tark_lsp.server.sessions.title_text import turn_title
from tark_lsp.server.turns.turn_record import TurnRecord

LEVELS = {"error": ERROR, "warning": WARNING, "info": INFO}


class AnswerDisplay:
    def __init__(self, connection: Connection, questions: Questions, show: TextDisplay) -> None:
        self._connection = connection
        self._questions = questions
        self._show = show
        self.last_answered: str | None = None
        """The id of the last turn whose answer had text."""

    def show_notice(self, level: str, message: str) -> None:
        if not self._connection.client.understands("updates"):
            self._questions.tell(f"Tark: {message}", level=LEVELS.get(level, INFO))

    async def show_end(self, record: TurnRecord, end: dict[str, Any]) -> None:
        """Show errors as messages, and answers in a document. A turn that only made edits shows nothing."""
        has_text = bool(end["text"].strip())
        if has_text:
            self.last_answered = record.id
        if self._connection.client.understands("updates"):
            return
        if (error := end.get("error")) is not None:
            hint = f" {error['hint'][0].upper()}{error['hint'][1:]}." if error["hint"] else ""
            self._questions.tell(f"Tark: {error['message'].rstrip('.')}.{hint}", level=ERROR)
        elif end["stopReason"] in (StopReason.MAX_TOKENS, StopReason.REFUSAL):
            self._questions.warn(f"Tark: the answer ended early ({end['stopReason'].replace('_', ' ')})")
        if has_text and not end["edits"] and end["stopReason"] != StopReason.CANCELLED:
            await self.show_answer(record.id, turn_title(record.request.prompt, record.kind.name), end)

    async def show_answer(self, turn_id: str, heading: str, end: Mapping[str, Any]) -> None:
        text = answer_document(str(end.get("text", "")).strip())
        await self._show.show_text(f"answer-{turn_id}.md", f"# {prose_line(heading)}\n\n{text}\n")
