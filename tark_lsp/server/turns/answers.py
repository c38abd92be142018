"""What a person reads where the client has no `updates`: a turn's answer in words, errors, results of commands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tark_lsp.context.snippets import parse_snippets
from tark_lsp.messages import StopReason
from tark_lsp.server.asking.questions import INFO, WARNING, Questions
from tark_lsp.server.asking.show import Show
from tark_lsp.server.asking.visible import fence
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.uris import uri_from_path
from tark_lsp.server.sessions.titles import turn_title
from tark_lsp.server.turns.turn_record import TurnRecord

ERROR = 1
LEVELS = {"error": ERROR, "warning": WARNING, "info": INFO}


class Answers:
    def __init__(self, connection: Connection, questions: Questions, show: Show) -> None:
        self._connection = connection
        self._questions = questions
        self._show = show
        self.last: str | None = None
        """The id of the last turn that answered in words."""

    def notice(self, level: str, message: str) -> None:
        if not self._connection.client.understands("updates"):
            self._questions.tell(f"Tark: {message}", level=LEVELS.get(level, INFO))

    async def turn_ended(self, record: TurnRecord, end: dict[str, Any]) -> None:
        """Errors as messages, answers in a document; a turn that only edited shows nothing."""
        worded = bool(end["text"].strip())
        if worded:
            self.last = record.id
        if self._connection.client.understands("updates"):
            return
        if (error := end.get("error")) is not None:
            hint = f" {error['hint'][0].upper()}{error['hint'][1:]}." if error["hint"] else ""
            self._questions.tell(f"Tark: {error['message'].rstrip('.')}.{hint}", level=ERROR)
        elif end["stopReason"] in (StopReason.MAX_TOKENS, StopReason.REFUSAL):
            self._questions.tell(f"Tark: the answer ended early ({end['stopReason']})", level=WARNING)
        if worded and not end["edits"] and end["stopReason"] != StopReason.CANCELLED:
            await self.show(record.id, turn_title(record.request.prompt, record.kind.name), end)

    async def show(self, turn_id: str, heading: str, end: Mapping[str, Any]) -> None:
        text = with_links(str(end.get("text", "")).strip())
        await self._show.text(f"answer-{turn_id}.md", f"# {heading}\n\n{text}\n")

    async def result(self, name: str, text: str) -> None:
        """The result of a list, login, usage or doctor command."""
        if not self._connection.client.understands("updates"):
            await self._show.text(f"{name}.md", text)


def with_links(text: str) -> str:
    """The code snippets of an answer as Markdown: a link to the lines, then the code in a fence."""
    parts, at = [], 0
    for each in parse_snippets(text):
        lines = f"{each.first_line}-{each.last_line}" if each.last_line > each.first_line else str(each.first_line)
        path = Path(each.path)
        link = (
            f"[{path.name}:{lines}]({uri_from_path(path)}#L{each.first_line})"
            if path.is_absolute()
            else f"{path}:{lines}"
        )
        code = f"\n\n{fence(each.code, path.suffix[1:])}\n" if each.code else ""
        parts += [text[at : each.start], link, code]
        at = each.end
    return "".join([*parts, text[at:]])
