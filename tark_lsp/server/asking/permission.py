"""What waits for the person's permission, and how it is asked: `tark/requestPermission`, or plain LSP messages.

An answer is bound to the digest of what was shown: what the person edits meanwhile is asked anew. Only a grant grants
and only a rejection rejects: everything else (null, an error, an unknown title) leaves the request waiting, to be
answered by command, code action or lens.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from pydantic import ValidationError

from tark_lsp.agent.person import PermissionRequest
from tark_lsp.errors import RequestError
from tark_lsp.server import protocol
from tark_lsp.server.asking.questions import WARNING, Questions
from tark_lsp.server.asking.show import Show
from tark_lsp.server.asking.visible import LONGEST_MESSAGE, visible
from tark_lsp.server.asking.waiting import Waiting, message, whole_text
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.review.hunks import ReviewHunk
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.review.preview import Preview
from tark_lsp.workspace.files import Workspace

REVIEW, SHOW, REJECT = "Review", "Show", "Reject"
APPLY, APPLY_TURN, ALLOW, ALLOW_SESSION = "Apply", "Apply all this turn", "Allow", "Allow for this session"
REMEMBERED_ANSWERS = 1000
TITLE_WHOLE = 120
"""An action or lens title that is longer would not show what it allows."""


class Permissions:
    def __init__(
        self,
        connection: Connection,
        documents: Documents,
        workspace: Workspace,
        hunks: HunksJson,
        questions: Questions,
        show: Show,
        cancel_turn: Callable[[str], None],
        changed: Callable[[], None],
        preview: Preview,
    ) -> None:
        """`changed()`: what waits is something else now, so lenses and the like are to be drawn anew. `preview`: how
        edits are shown in editors that have a way of their own."""
        self._connection = connection
        self._documents = documents
        self._workspace = workspace
        self._json = hunks
        self._questions = questions
        self._show = show
        self._cancel_turn = cancel_turn
        self._changed = changed
        self._preview = preview
        self._waiting: dict[str, Waiting] = {}
        self._over: deque[str] = deque(maxlen=REMEMBERED_ANSWERS)

    def waiting(self) -> list[Waiting]:
        return list(self._waiting.values())

    def open(
        self, turn_id: str, session_id: str, request: PermissionRequest, hunks: Sequence[ReviewHunk] = ()
    ) -> Waiting:
        future: asyncio.Future[protocol.PermissionReply] = asyncio.get_running_loop().create_future()
        waiting = Waiting(turn_id, session_id, request, hunks, future)
        self._waiting[waiting.id] = waiting
        self._changed()
        return waiting

    async def ask(self, waiting: Waiting) -> None:
        """Put the question; returns when it was answered, or will not be on this way. Cancel it to take it back."""
        if self._connection.client.understands("permission"):
            await self._ask_client(waiting)
        else:
            await self._ask_by_message(waiting)

    def close(self, waiting: Waiting) -> None:
        self._waiting.pop(waiting.id, None)
        self._over.append(waiting.id)
        waiting.answer.cancel()
        self._changed()

    def answer(self, answer: protocol.PermissionAnswer) -> bool:
        """False: it was answered already, or is no more. Raises RequestError where there was none, the digest is
        another's, or it must be shown first."""
        if answer.request_id in self._over:
            return False
        waiting = self.find(answer.request_id)
        if waiting.answer.done():
            return False
        if answer.digest != waiting.digest:
            raise RequestError("digest: not that of what the request shows", hint="ask tark.permission.list again")
        self.check(waiting, answer)
        # A client with a way of its own to ask was sent the whole, and shows it.
        asks_itself = self._connection.client.understands("permission")
        if answer.outcome == "allow" and not asks_itself and self.needs_showing(waiting):
            raise RequestError(
                "outcome: it can be allowed only after it was shown whole",
                hint=f"have it shown by tark.permission.list with show {waiting.id!r}",
            )
        self._resolve(waiting, answer)
        return True

    def check(self, waiting: Waiting, reply: protocol.PermissionReply) -> None:
        """Raises RequestError for a grant or a hunk that the request does not have."""
        if reply.grant is not None and reply.grant not in {grant.id for grant in waiting.request.grants}:
            raise RequestError(f"grant: {reply.grant!r} is not one of the request's")
        known = {hunk.id for hunk in waiting.hunks}
        for hunk_id in [*(reply.hunks or ()), *(edited.hunk_id for edited in reply.edited)]:
            if hunk_id not in known:
                raise RequestError(f"hunks: {hunk_id!r} is not one of the request's")

    def find(self, request_id: str) -> Waiting:
        waiting = self._waiting.get(request_id)
        if waiting is None:
            raise RequestError(f"requestId: no request {request_id!r} is waiting")
        return waiting

    def message(self, waiting: Waiting) -> str:
        return message(waiting, self._workspace)

    async def show_whole(self, waiting: Waiting) -> None:
        shown = waiting.digest
        if await self._show.text(f"permission-{waiting.id}.md", whole_text(waiting, self._workspace)) is not None:
            waiting.seen = shown
        self._changed()

    def hunks_changed(self) -> None:
        """A question about one that the person edited since is taken back, to be put anew."""
        for waiting in self._waiting.values():
            if waiting.edited is not None and not waiting.edited.done() and waiting.digest != waiting.asked:
                waiting.edited.set_result(None)

    def needs_showing(self, waiting: Waiting) -> bool:
        """Must it be seen whole before it can be granted? An edit of a document that is open now is taken back by one
        undo; of a mere move the message holds everything."""
        if waiting.shown:
            return False
        if len(self.message(waiting)) > LONGEST_MESSAGE:  # its end would not be seen
            return True
        return any(each.open and self._overwrites(each) for each in waiting.hunks)

    def json(self, waiting: Waiting) -> dict[str, Any]:
        request = waiting.request
        shown: dict[str, Any] = {
            "requestId": waiting.id,
            "sessionId": waiting.session_id,
            "turnId": waiting.turn_id,
            "toolCallIds": list(request.call_ids),
            "title": visible(request.title),
            "toolKind": request.kind,
            "risk": request.risk.name.lower(),
            "why": request.why,
            "digest": waiting.digest,
            "grants": [{"id": grant.id, "covers": grant.covers} for grant in request.grants],
        }
        if request.command is not None:
            command = request.command
            shown["command"] = {
                "argv": list(command.argv),
                "text": command.text,
                "cwd": str(command.cwd),
                "env": dict(command.env),
            }
        if waiting.hunks:
            shown["edits"] = self._json.by_document(waiting.hunks)
        return shown

    def _overwrites(self, hunk: ReviewHunk) -> bool:
        return hunk.operation == "remove" or (not hunk.operation and self._documents.at(hunk.path) is None)

    def _resolve(self, waiting: Waiting, reply: protocol.PermissionReply) -> None:
        if waiting.answer.done():
            return
        if reply.outcome == "cancelled":
            self._cancel_turn(waiting.turn_id)
            return
        waiting.answer.set_result(reply)

    async def _previewed(self, waiting: Waiting) -> bool:
        """In the editor's own preview, whose ticks decide. What is all or nothing has no hunks to tick, and what moves
        or removes files is nothing that a text shows."""
        request = waiting.request
        if request.whole or any(edit.operation for edit in request.edits):
            return False
        shown = waiting.digest
        if not await self._preview.show(waiting.hunks):
            return False
        waiting.seen = shown
        return True

    async def _put(self, waiting: Waiting, question: Coroutine[Any, Any, Any]) -> Any:
        """Its answer. None, and it is taken back, where what it asks about was edited meanwhile."""
        waiting.edited = asyncio.get_running_loop().create_future()
        asked = asyncio.ensure_future(question)
        try:
            await asyncio.wait({asked, waiting.edited}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
            await asyncio.wait({asked})
        return None if asked.cancelled() else asked.result()

    async def _ask_client(self, waiting: Waiting) -> None:
        while not waiting.answer.done():
            waiting.asked = waiting.digest
            try:
                request = self._connection.request(protocol.REQUEST_PERMISSION, self.json(waiting))
                answer = await self._put(waiting, request)
                if waiting.asked != waiting.digest:
                    continue
                reply = protocol.PermissionReply.model_validate(answer)
                self.check(waiting, reply)
            except (RequestFailed, ValidationError, RequestError):  # unanswered: the call stays waiting
                return
            self._resolve(waiting, reply)
            return

    async def _ask_by_message(self, waiting: Waiting) -> None:
        """Actions stand so that no stray Enter grants."""
        request = waiting.request
        look, yes, more, scope = (
            (REVIEW, APPLY, APPLY_TURN, "turn") if request.edits else (SHOW, ALLOW, ALLOW_SESSION, "session")
        )
        grant = next((grant.id for grant in request.grants if grant.scope == scope), None)
        while not waiting.answer.done():
            waiting.asked = waiting.digest
            actions = [look, REJECT]
            if not self.needs_showing(waiting):
                actions += [yes, more] if grant else [yes]
            title = await self._put(waiting, self._questions.ask(self.message(waiting), actions, level=WARNING))
            if waiting.asked != waiting.digest:
                continue
            if title in (yes, more) and self.needs_showing(waiting):  # its document was closed meanwhile
                continue
            if title == look:
                if not await self._previewed(waiting):
                    await self.show_whole(waiting)
                continue
            if title == REJECT:
                self._resolve(waiting, protocol.PermissionReply(outcome="reject"))
            elif title == yes:
                self._resolve(waiting, protocol.PermissionReply(outcome="allow"))
            elif title == more:
                self._resolve(waiting, protocol.PermissionReply(outcome="allow", grant=grant))
            return
