"""The chats: which answer is being written where, which session goes on with which document, what a person can do."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tark_lsp.agent.session import Session
from tark_lsp.errors import RequestError
from tark_lsp.server.actions.offers import Offer
from tark_lsp.server.asking.questions import WARNING, Questions
from tark_lsp.server.asking.visible import cut, visible
from tark_lsp.server.chat.answer_text import AnswerText
from tark_lsp.server.chat.answering import Answering
from tark_lsp.server.chat.links import cite
from tark_lsp.server.chat.transcript import Said, Section, conversation, digest, history
from tark_lsp.server.chat.transcripts import Transcripts
from tark_lsp.server.chat.writer import AnswerWriter
from tark_lsp.server.documents.documents import Documents, TextDocument
from tark_lsp.server.documents.text_document import is_chat
from tark_lsp.server.turns.turns import Turns
from tark_lsp.sessions.chats import ChatRows
from tark_lsp.workspace.files import Workspace

log = logging.getLogger(__name__)

LONGEST_TITLE = 60
BEGINNING_LINES = 50
"""Of a message, looked at for its beginning: titles are asked for at every move of the caret."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message the person sends: `said` is the whole conversation, its last words theirs."""

    path: Path
    said: tuple[Said, ...]

    @property
    def prompt(self) -> str:
        return self.said[-1].words


@dataclass(frozen=True, slots=True)
class Placed:
    """An offer for lines `start` to `end`, end not included."""

    offer: Offer
    start: int
    end: int


class Chats:
    def __init__(
        self,
        documents: Documents,
        workspace: Workspace,
        turns: Turns,
        questions: Questions,
        rows: ChatRows,
        redraw: Callable[[], None],
    ) -> None:
        """`rows`: the session that answered last in each document. `redraw()`: what can be done in one has changed."""
        self._documents = documents
        self._workspace = workspace
        self._turns = turns
        self._questions = questions
        self._rows = rows
        self._redraw = redraw
        self.transcripts = Transcripts(documents)
        self._answering: dict[Path, Answering] = {}

    def sent(self, uri: str) -> Sent:
        """What Send in this document means now. Raises RequestError where there is nothing to be sent."""
        document = self._documents.find(uri)
        path = None if document is None else document.path
        if document is None or path is None or not is_chat(path):
            raise RequestError(
                f"textDocument: {uri} is no open chat", hint="the name of a chat's file ends in .tark.md"
            )
        if self._busy(path) is not None:
            raise RequestError("textDocument: an answer is being written there", hint="stop it, or wait for its end")
        said = conversation(document.lines, self.transcripts.of(document).sections)
        if not said or said[-1].speaker != "You":
            raise RequestError("textDocument: there is no message of yours at the end", hint="write it below `## You`")
        return Sent(path, tuple(said))

    def session(self, sent: Sent, new: Callable[[], Session], use: Callable[[str], Session]) -> Session:
        """The one that knows what stands above, be it of an earlier server; else a new one that is told it.

        `use(session_id)` raises RequestError where that cannot be gone on with: another process has it, say.
        """
        before = sent.said[:-1]
        known = self._rows.find(sent.path, digest(before))
        if known is not None:
            try:
                return use(known)
            except RequestError as error:
                log.info("%s begins a new session: %s", sent.path.name, error)
        session = new()
        session.messages.extend(history(before))
        return session

    def answer(self, sent: Sent, session: Session) -> Answering:
        """Who writes the answer of the turn that is about to start."""
        path = sent.path

        def lost(why: str) -> None:
            self._questions.tell(
                f"Tark: the answer in {path.name} is not written on: {why}. The whole of it is shown at its end.",
                level=WARNING,
            )

        text = AnswerText(partial(cite, beside=path.parent, workspace=self._workspace))
        writer = AnswerWriter(self._documents, self._workspace, path, lost)
        answering = Answering(path, session, sent.said, writer, text, self._changed)
        self._answering[path] = answering
        return answering

    def offers(self, document: TextDocument) -> Iterable[Placed]:
        """Send at the last message, where that is the person's and says something; Stop while an answer is written."""
        if document.path is None or not is_chat(document.path):
            return
        sections = self.transcripts.of(document).sections
        last = sections[-1] if sections else None
        if (answering := self._busy(document.path)) is not None:
            line = next((each.start for each in reversed(sections) if each.speaker == "Tark"), 0)
            stop = Offer("Stop the answer", "tark.turn.cancel", {"turnId": answering.turn_id})
            yield Placed(stop, line, len(document.lines))
        elif last is not None and last.speaker == "You" and (beginning := _beginning(document.lines, last)):
            about = (
                {"uri": document.uri}
                if document.version is None
                else {"uri": document.uri, "version": document.version}
            )
            argument = {"prompt": "", "chat": True, "textDocument": about}
            title = f"Send: {cut(visible(beginning[: LONGEST_TITLE + 1]), LONGEST_TITLE)}"
            yield Placed(Offer(title, "tark.turn.start", argument), last.start, last.end)

    def _busy(self, path: Path) -> Answering | None:
        answering = self._answering.get(path)
        if answering is None or answering.ended:
            return None
        waits = any(record.id == answering.turn_id for record in self._turns.active())
        return answering if answering.begun or waits else None

    def _changed(self, answering: Answering) -> None:
        if answering.ended:
            del self._answering[answering.path]
            if answering.known:
                said = digest(answering.conversation)
                self._rows.keep(answering.path, answering.session.id, answering.turn_id, said)
        self._redraw()


def _beginning(lines: list[str], section: Section) -> str:
    """The first of its words."""
    for first in range(section.body, section.end):
        if lines[first].strip():
            end = min(section.end, first + BEGINNING_LINES)
            (said,) = conversation(lines, [Section(section.speaker, first, first, end)])
            return said.words
    return ""
