"""The open chats: the answers that are being written, the session of each document, and what the user can do there."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tark_lsp.agent.session import Session
from tark_lsp.errors import RequestError
from tark_lsp.listeners import Listeners
from tark_lsp.server.actions.offers import Offer
from tark_lsp.server.asking.questions import WARNING, Questions
from tark_lsp.server.chat.answer_text import AnswerText
from tark_lsp.server.chat.chat_answer import ChatAnswer
from tark_lsp.server.chat.links import cite
from tark_lsp.server.chat.transcript import Said, Section, conversation, digest, history
from tark_lsp.server.chat.transcripts import Transcripts
from tark_lsp.server.chat.writer import AnswerWriter
from tark_lsp.server.turns.turn_records import TurnRecords
from tark_lsp.sessions.chats import ChatRows
from tark_lsp.visible import cut, visible
from tark_lsp.workspace.documents import Documents, TextDocument
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.text_document import is_chat

log = logging.getLogger(__name__)

LONGEST_TITLE = 60
BEGINNING_LINES = 50
"""How much of a message is searched for its first words, because titles are needed at every cursor move."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that the user sends: `said` is the whole conversation, which ends with it."""

    path: Path
    said: tuple[Said, ...]

    @property
    def prompt(self) -> str:
        return self.said[-1].words


@dataclass(frozen=True, slots=True)
class PlacedOffer:
    """An offer for the lines [start, end)."""

    offer: Offer
    start: int
    end: int


class OpenChats:
    def __init__(
        self,
        documents: Documents,
        workspace: Workspace,
        records: TurnRecords,
        questions: Questions,
        rows: ChatRows,
    ) -> None:
        """`rows` stores the session that answered last in each document."""
        self._documents = documents
        self._workspace = workspace
        self._records = records
        self._questions = questions
        self._rows = rows
        self._changes = Listeners[None]()
        self.transcripts = Transcripts(documents)
        self._answering: dict[Path, ChatAnswer] = {}

    def listen(self, listener: Callable[[None], object]) -> Callable[[], None]:
        """Call `listener` when an answer begins or ends, so that other actions are possible."""
        return self._changes.listen(listener)

    def sent_message(self, uri: str) -> SentMessage:
        """The message that Send in this document sends. Raises RequestError if there is nothing to send."""
        document = self._documents.find_document(uri)
        path = None if document is None else document.path
        if document is None or path is None or not is_chat(path):
            raise RequestError(
                f"textDocument: {uri} is not an open chat", hint="the name of a chat's file ends in .tark.md"
            )
        if self._busy(path) is not None:
            raise RequestError("textDocument: an answer is being written there", hint="stop it, or wait for its end")
        said = conversation(document.lines, self.transcripts.transcript_of(document).sections)
        if not said or said[-1].speaker != "You":
            raise RequestError("textDocument: there is no message of yours at the end", hint="write it below `## You`")
        return SentMessage(path, tuple(said))

    def session_of(self, sent: SentMessage, new: Callable[[], Session], use: Callable[[str], Session]) -> Session:
        """The session that has the messages above, also of an earlier server; else a new session that gets them.

        `use(session_id)` raises RequestError if that session cannot be continued, for example because another process
        holds it.
        """
        before = sent.said[:-1]
        known = self._rows.find_session(sent.path, digest(before))
        if known is not None:
            try:
                return use(known)
            except RequestError as error:
                log.info("%s begins a new session: %s", sent.path.name, error)
        session = new()
        session.messages.extend(history(before))
        return session

    def begin_answer(self, sent: SentMessage, session: Session) -> ChatAnswer:
        """The object that writes the answer of the turn that is about to start into the document."""
        path = sent.path

        def lost(why: str) -> None:
            self._questions.tell(
                f"Tark: writing the answer into {path.name} stopped: {why}. The whole answer is shown when it ends.",
                level=WARNING,
            )

        text = AnswerText(partial(cite, beside=path.parent, workspace=self._workspace))
        writer = AnswerWriter(self._documents, self._workspace, path, lost)
        answering = ChatAnswer(path, session, sent.said, writer, text, self._changed)
        self._answering[path] = answering
        return answering

    def offers(self, document: TextDocument) -> Iterable[PlacedOffer]:
        """Send at the last message if it is a message of the user and not empty; Stop while an answer is written."""
        if document.path is None or not is_chat(document.path):
            return
        sections = self.transcripts.transcript_of(document).sections
        last = sections[-1] if sections else None
        if (answering := self._busy(document.path)) is not None:
            line = next((section.start for section in reversed(sections) if section.speaker == "Tark"), 0)
            stop = Offer("Stop the answer", "tark.turn.cancel", {"turnId": answering.turn_id})
            yield PlacedOffer(stop, line, len(document.lines))
        elif last is not None and last.speaker == "You" and (beginning := _beginning(document.lines, last)):
            about = (
                {"uri": document.uri}
                if document.version is None
                else {"uri": document.uri, "version": document.version}
            )
            argument = {"prompt": "", "chat": True, "textDocument": about}
            title = f"Send: {cut(visible(beginning[: LONGEST_TITLE + 1]), LONGEST_TITLE)}"
            yield PlacedOffer(Offer(title, "tark.turn.start", argument), last.start, last.end)

    def _busy(self, path: Path) -> ChatAnswer | None:
        answering = self._answering.get(path)
        if answering is None or answering.ended:
            return None
        return answering if answering.begun or self._records.is_active(answering.turn_id) else None

    def _changed(self, answering: ChatAnswer) -> None:
        if answering.ended:
            del self._answering[answering.path]
            if answering.known:
                said = digest(answering.conversation)
                self._rows.keep_chat(answering.path, answering.session.id, answering.turn_id, said)
        self._changes.emit(None)


def _beginning(lines: list[str], section: Section) -> str:
    """The first words of the section."""
    for first in range(section.body, section.end):
        if lines[first].strip():
            end = min(section.end, first + BEGINNING_LINES)
            (said,) = conversation(lines, [Section(section.speaker, first, first, end)])
            return said.words
    return ""
