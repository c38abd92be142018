"""The permission requests that wait for an answer, and their JSON for clients.

An answer is bound to the digest of what was shown. If the user edits a proposal meanwhile, the user is asked again.
permission_asking.py asks the questions.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tark_lsp.agent.user_interface import PermissionRequest
from tark_lsp.errors import RequestError
from tark_lsp.listeners import Listeners
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.asking.waiting_permission import ToOpen, WaitingPermission, message, whole_text
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.visible import LONGEST_MESSAGE, visible
from tark_lsp.workspace.documents import Change, DocumentEvent, Documents, Opened
from tark_lsp.workspace.files import Workspace

REMEMBERED_ANSWERS = 1000
CAN_BE_ALLOWED = "It can be allowed when it is open in this editor."
TITLE_WHOLE = 120
"""In characters. A longer title of an action or lens would not show everything that it allows."""


@dataclass(frozen=True, slots=True)
class WaitingChanged:
    """A request came, was answered, or was shown in full, so code actions and lenses must be redrawn."""


@dataclass(frozen=True, slots=True)
class TurnCancelled:
    """The answer to a request was to cancel its turn."""

    turn_id: str


PermissionEvent: TypeAlias = WaitingChanged | TurnCancelled


class Permissions:
    def __init__(self, documents: Documents, workspace: Workspace, hunks: HunksJson, show: TextDisplay) -> None:
        self._documents = documents
        self._workspace = workspace
        self._hunks = hunks
        self._show = show
        self._listeners = Listeners[PermissionEvent]()
        self._waiting: dict[str, WaitingPermission] = {}
        self._over: deque[str] = deque(maxlen=REMEMBERED_ANSWERS)
        documents.listen(self._on_document_event)

    def listen(self, listener: Callable[[PermissionEvent], object]) -> Callable[[], None]:
        return self._listeners.listen(listener)

    def waiting(self) -> list[WaitingPermission]:
        return list(self._waiting.values())

    def open_request(
        self, turn_id: str, session_id: str, request: PermissionRequest, hunk_ids: Sequence[str] = ()
    ) -> WaitingPermission:
        future: asyncio.Future[incoming.PermissionReply] = asyncio.get_running_loop().create_future()
        waiting = WaitingPermission(turn_id, session_id, request, hunk_ids, self._hunks.store, future)
        self._waiting[waiting.id] = waiting
        self._listeners.emit(WaitingChanged())
        return waiting

    def close_request(self, waiting: WaitingPermission) -> None:
        self._waiting.pop(waiting.id, None)
        self._over.append(waiting.id)
        waiting.answer.cancel()
        self._listeners.emit(WaitingChanged())

    def find_request(self, request_id: str) -> WaitingPermission:
        """Raises RequestError if no such request is waiting."""
        waiting = self._waiting.get(request_id)
        if waiting is None:
            raise RequestError(f"requestId: no request {request_id!r} is waiting")
        return waiting

    def is_over(self, request_id: str) -> bool:
        return request_id in self._over

    def resolve(self, waiting: WaitingPermission, reply: incoming.PermissionReply) -> None:
        """Answer the request; the first answer counts."""
        if waiting.answer.done():
            return
        if reply.outcome == "cancelled":
            self._listeners.emit(TurnCancelled(waiting.turn_id))
        else:
            waiting.answer.set_result(reply)

    def message(self, waiting: WaitingPermission) -> str:
        return message(waiting, self._workspace)

    async def show_whole(self, waiting: WaitingPermission) -> None:
        """Show the whole request to the user. If the editor cannot be told to open it, the user must open the file."""
        digest, text = waiting.digest, whole_text(waiting, self._workspace)
        shown = await self._show.show_whole(f"permission-{waiting.id}.md", text, CAN_BE_ALLOWED)
        waiting.to_open = None if shown.whole or shown.path is None else ToOpen(shown.path, shown.text, digest)
        if shown.whole:
            waiting.seen = digest
        self._listeners.emit(WaitingChanged())

    def _on_document_event(self, event: DocumentEvent) -> None:
        """If the user opens a file of `show_whole`, the request counts as seen, and the question is asked again."""
        if not isinstance(event, Opened | Change):
            return
        for waiting in self._waiting.values():
            if waiting.to_open is not None and waiting.to_open.is_in(event.document):
                waiting.seen, waiting.to_open = waiting.to_open.digest, None
                waiting.ask_again()
                self._listeners.emit(WaitingChanged())

    def hunks_changed(self) -> None:
        """Withdraw and repeat each question about a hunk that was edited since."""
        for waiting in self._waiting.values():
            if waiting.digest != waiting.asked:
                waiting.ask_again()

    def needs_showing(self, waiting: WaitingPermission) -> bool:
        """Must the whole request be seen before it can be allowed?

        Not for an edit of an open document, because one undo reverts it, and not for a mere move, because the message
        describes it in full.
        """
        if waiting.shown:
            return False
        if len(self.message(waiting)) > LONGEST_MESSAGE:  # the end of the text would not be visible
            return True
        return any(hunk.pending and self._overwrites(hunk) for hunk in waiting.hunks)

    def json(self, waiting: WaitingPermission) -> dict[str, Any]:
        """The params of `tark/requestPermission`."""
        request = waiting.request
        shown: dict[str, Any] = {
            "requestId": waiting.id,
            "sessionId": waiting.session_id,
            "turnId": waiting.turn_id,
            "toolCallIds": list(request.call_ids),
            "title": visible(request.title),
            "toolKind": request.kind,
            "risk": request.risk.name.lower(),
            "why": visible(request.why),
            "digest": waiting.digest,
            "grants": [
                {"id": grant.id, "scope": grant.scope, "covers": visible(grant.covers)} for grant in request.grants
            ],
        }
        if request.command is not None:
            command = request.command
            shown["command"] = {
                "argv": list(command.argv),
                "text": command.text,
                "cwd": str(command.cwd),
                "env": dict(command.env),
                "sandboxed": command.confined,
                "network": command.network or not command.confined,
                "writable": [str(path) for path in command.writable],
            }
        if request.unsaved:
            shown["unsaved"] = [self._documents.uri(path) for path in request.unsaved]
        if waiting.hunk_ids:
            shown["edits"] = self._hunks.by_document(waiting.hunks)
        return shown

    def _overwrites(self, hunk: ReviewHunk) -> bool:
        return hunk.operation == "remove" or (not hunk.operation and self._documents.at(hunk.path) is None)


def check_reply(waiting: WaitingPermission, reply: incoming.PermissionReply) -> None:
    """Raises RequestError if the reply names a grant or a hunk that the request does not have."""
    if reply.grant is not None and reply.grant not in {grant.id for grant in waiting.request.grants}:
        raise RequestError(f"grant: {reply.grant!r} is not one of the request's")
    known = {*waiting.hunk_ids}
    for hunk_id in [*(reply.hunks or ()), *(edited.hunk_id for edited in reply.edited)]:
        if hunk_id not in known:
            raise RequestError(f"hunks: {hunk_id!r} is not one of the request's")
