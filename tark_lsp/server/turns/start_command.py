"""`tark.turn.start`: determines the target, kind and session of a turn, and starts it."""

from collections.abc import Iterable
from typing import Any, Protocol

from tark_lsp.context.images import BadImage, check_images
from tark_lsp.errors import RequestError
from tark_lsp.server.commands import Command
from tark_lsp.server.connection.early_answers import EarlyAnswer
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.selections import Selections
from tark_lsp.server.documents.targets import Targets
from tark_lsp.server.prompting.named_prompts import NamedPrompts
from tark_lsp.server.prompting.prompt_comments import PromptComments
from tark_lsp.server.protocol import incoming
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.turns import Turns


class StartsChatTurns(Protocol):
    """Starts a turn whose answer is written into a chat document."""

    async def start_chat_turn(self, request: incoming.StartTurn) -> dict[str, Any]: ...


class StartCommand:
    def __init__(
        self,
        connection: Connection,
        targets: Targets,
        selections: Selections,
        prompts: NamedPrompts,
        comments: PromptComments,
        sessions: Sessions,
        turns: Turns,
        chats: StartsChatTurns,
    ) -> None:
        self._connection = connection
        self._targets = targets
        self._selections = selections
        self._prompts = prompts
        self._comments = comments
        self._sessions = sessions
        self._turns = turns
        self._chats = chats

    def commands(self) -> Iterable[Command]:
        # In an editor without an input box, a comment is inserted, and the editor can ask the user about that edit.
        early = EarlyAnswer({"inserted": True})
        yield Command("tark.turn.start", incoming.StartTurn, self.start, early, waits=_asks_for_prompt)

    async def start(self, request: incoming.StartTurn) -> Any:
        _check_images(request)
        if request.chat:
            return await self._chats.start_chat_turn(request)
        identifier, wanted = request.text_document, request.range
        last_action = None if request.no_document else self._selections.last_action()
        if identifier is None and last_action is not None:
            last, last_range = last_action
            # A range in the request refers to the current text, even if the action was about an older version.
            identifier, wanted = (last, last_range) if wanted is None else (incoming.DocumentId(uri=last.uri), wanted)
        if identifier is None and wanted is not None:
            raise RequestError("textDocument: a range needs a document")
        kind = self._prompts.find_kind(request.kind, request.prompt, wanted is not None, asks=request.ask_for_prompt)
        target = None if identifier is None else await self._targets.find_target(identifier, wanted)
        if kind.selection_only and (target is None or not target.is_file):  # otherwise the turn could change nothing
            raise RequestError(f"textDocument: kind {kind.name} needs a file")
        if request.ask_for_prompt and target is not None and not self._connection.client.understands("input"):
            await self._comments.insert_comment(target, kind.name)
            return {"inserted": True}
        session = self._sessions.use(request.session_id) if request.session_id else self._sessions.new()
        return self._turns.start(request, self._prompts.agents.in_session(kind, session), session, target)


def _asks_for_prompt(request: incoming.StartTurn) -> bool:
    return request.ask_for_prompt


def _check_images(request: incoming.StartTurn) -> None:
    """Raises RequestError before the turn starts, so that the client still has the prompt."""
    images = [part for part in request.context if isinstance(part, incoming.ImageContext)]
    try:
        check_images([(image.name, image.mime_type, image.data) for image in images])
    except BadImage as error:
        raise RequestError(f"context: {error.message}", hint=error.hint) from error
