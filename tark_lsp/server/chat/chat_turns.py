"""Starts the turn that answers a chat document (`tark.turn.start` with `chat`)."""

from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.chat.chats import OpenChats
from tark_lsp.server.documents.targets import Targets
from tark_lsp.server.prompting.named_prompts import NamedPrompts
from tark_lsp.server.protocol import incoming
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.turns import Turns


class ChatTurns:
    def __init__(
        self, targets: Targets, prompts: NamedPrompts, sessions: Sessions, turns: Turns, chats: OpenChats
    ) -> None:
        self._targets = targets
        self._prompts = prompts
        self._sessions = sessions
        self._turns = turns
        self._chats = chats

    async def start_chat_turn(self, request: incoming.StartTurn) -> dict[str, Any]:
        """The prompt is the last message of the document; other prompts in the request are ignored."""
        if request.text_document is None:
            raise RequestError("textDocument: a chat is a document")
        target = await self._targets.find_target(request.text_document, None)
        sent = self._chats.sent_message(target.uri)
        kind = self._prompts.find_kind(request.kind, sent.prompt, False, asks=False)
        session = (
            self._sessions.use(request.session_id)
            if request.session_id
            else self._chats.session_of(sent, self._sessions.new, self._sessions.use)
        )
        kind = self._prompts.agents.in_session(kind, session)
        answering = self._chats.begin_answer(sent, session)
        request = request.model_copy(update={"prompt": sent.prompt, "range": None, "ask_for_prompt": False})
        started = self._turns.start(request, kind, session, target, answering)
        answering.turn_id = started["turnId"]
        return started
