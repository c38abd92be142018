"""What waits for the person's permission, and how it is asked: `tark/requestPermission`, or plain LSP messages.

An answer is bound to the digest of what was shown. Only a grant grants and only a rejection rejects: everything else
(null, an error, an unknown title) leaves the request waiting, to be answered by command, code action or lens.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from tark_lsp.agent.person import PermissionRequest
from tark_lsp.errors import RequestError
from tark_lsp.server import protocol
from tark_lsp.server.asking.questions import WARNING, Questions
from tark_lsp.server.asking.show import Show
from tark_lsp.server.asking.visible import LONGEST_MESSAGE, defused, fence, visible
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.review.hunks import ReviewHunk
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.review.preview import Preview
from tark_lsp.server.review.words import as_diff
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace

REVIEW, SHOW, REJECT = "Review", "Show", "Reject"
APPLY, APPLY_TURN, ALLOW, ALLOW_SESSION = "Apply", "Apply all this turn", "Allow", "Allow for this session"
REMEMBERED_ANSWERS = 1000
TITLE_WHOLE = 120
"""An action or lens title that is longer would not show what it allows."""


@dataclass(eq=False, slots=True)
class Waiting:
    """One open question. `answer` resolves once, to the person's reply."""

    turn_id: str
    session_id: str
    request: PermissionRequest
    hunks: Sequence[ReviewHunk]
    answer: "asyncio.Future[protocol.PermissionReply]"
    shown: bool = False
    id: str = field(default_factory=lambda: f"permission-{secrets.token_hex(6)}")


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
        if answer.digest != waiting.request.digest:
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

    def whole_text(self, waiting: Waiting) -> str:
        """The whole of what would happen, for a person to read."""
        request = waiting.request
        if request.command is not None:
            where = self._workspace.display(request.command.cwd) or "."
            command = fence(request.command.text, "sh")
            return f"# Tark asks: run this command?\n\nBecause {request.why}. In `{where}`:\n\n{command}\n"
        if request.edits:
            beside = [hunk for hunk in waiting.hunks if not any(_is_of(hunk, edit) for edit in request.edits)]
            texts = [*map(self._whole_change, request.edits), *(self._whole_hunk(hunk) for hunk in beside)]
            changes = "\n".join(texts)
            return f"# Tark asks: make these changes?\n\nBecause {request.why}.\n\n{changes}\n"
        return f"# Tark asks: {defused(request.title)}?\n\nBecause {request.why}.\n"

    async def show_whole(self, waiting: Waiting) -> None:
        waiting.shown = await self._show.text(f"permission-{waiting.id}.md", self.whole_text(waiting)) is not None
        self._changed()

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
            "digest": request.digest,
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

    def message(self, waiting: Waiting) -> str:
        return f"Tark: {self._subject(waiting)}"

    def _subject(self, waiting: Waiting) -> str:
        request = waiting.request
        if request.edits:
            return "; ".join(self._summary(edit, waiting) for edit in request.edits)
        if request.command is not None:
            folder = self._workspace.display(request.command.cwd)
            where = "" if folder == "." else f" in {visible(folder)}"
            return f"run {visible(request.command.text)}{where}"
        return f"{visible(request.title)} ({request.why})"

    def _summary(self, edit: ProposedEdit, waiting: Waiting) -> str:
        hunks = [each for each in waiting.hunks if each.path == edit.path]
        added, removed = sum(len(each.new) for each in hunks), sum(len(each.hunk.old) for each in hunks)
        lines = "" if edit.target is not None and not edit.hunks else f": +{added} -{removed} lines"
        return f"{visible(self._done(edit))}{lines}"

    def _whole_change(self, edit: ProposedEdit) -> str:
        said = f"{visible(self._done(edit))}:\n\n" if edit.operation else ""
        return f"{said}{fence(edit.diff(), 'diff')}"

    def _whole_hunk(self, hunk: ReviewHunk) -> str:
        """The comment that asked for all this, which goes with it."""
        return (
            f"{visible(self._workspace.display(hunk.path))}, line {hunk.start + 1}:\n\n{fence(as_diff(hunk), 'diff')}"
        )

    def _done(self, edit: ProposedEdit) -> str:
        """What becomes of the file itself, and its name."""
        name = self._workspace.display(edit.path)
        if edit.removes:
            return f"delete {name}"
        return name if edit.target is None else f"move {name} -> {self._workspace.display(edit.target)}"

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
        if not await self._preview.show(waiting.hunks):
            return False
        waiting.shown = True
        return True

    async def _ask_client(self, waiting: Waiting) -> None:
        try:
            answer = await self._connection.request(protocol.REQUEST_PERMISSION, self.json(waiting))
            reply = protocol.PermissionReply.model_validate(answer)
            self.check(waiting, reply)
        except (RequestFailed, ValidationError, RequestError):  # unanswered: the call stays waiting
            return
        self._resolve(waiting, reply)

    async def _ask_by_message(self, waiting: Waiting) -> None:
        """Actions stand so that no stray Enter grants."""
        request = waiting.request
        look, yes, more, scope = (
            (REVIEW, APPLY, APPLY_TURN, "turn") if request.edits else (SHOW, ALLOW, ALLOW_SESSION, "session")
        )
        grant = next((grant.id for grant in request.grants if grant.scope == scope), None)
        while True:
            actions = [look, REJECT]
            if not self.needs_showing(waiting):
                actions += [yes, more] if grant else [yes]
            match await self._questions.ask(self.message(waiting), actions, level=WARNING):
                case title if title in (yes, more) and self.needs_showing(waiting):  # its document was closed meanwhile
                    continue
                case title if title == look:
                    if not await self._previewed(waiting):
                        await self.show_whole(waiting)
                case title if title == REJECT:
                    return self._resolve(waiting, protocol.PermissionReply(outcome="reject"))
                case title if title == yes:
                    return self._resolve(waiting, protocol.PermissionReply(outcome="allow"))
                case title if title == more:
                    return self._resolve(waiting, protocol.PermissionReply(outcome="allow", grant=grant))
                case _:
                    return None


def _is_of(hunk: ReviewHunk, edit: ProposedEdit) -> bool:
    return hunk.origin == edit.path and (bool(hunk.operation) or hunk.proposed in edit.hunks)
