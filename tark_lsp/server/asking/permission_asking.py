"""Asks for permission with `tark/requestPermission`, or with plain LSP messages.

Only a grant grants, and only a rejection rejects. After everything else (null, an error, an unknown title) the request
still waits. It can then be answered by command, code action or lens.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any

from pydantic import ValidationError

from tark_lsp.agent.grants import Grant
from tark_lsp.agent.user_interface import PermissionRequest
from tark_lsp.errors import RequestError
from tark_lsp.server.asking.permission import Permissions, check_reply
from tark_lsp.server.asking.preview import Preview
from tark_lsp.server.asking.questions import WARNING, Questions
from tark_lsp.server.asking.waiting_permission import WaitingPermission
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.protocol import incoming
from tark_lsp.visible import visible

REVIEW, SHOW, REJECT = "Review", "Show", "Reject"
APPLY, APPLY_TURN, ALLOW, ALLOW_SESSION = "Apply", "Apply all this turn", "Allow", "Allow for this session"
ALWAYS_LONGEST = 120
"""Maximum characters of a button. A longer title could be cut, and not show everything that it allows."""
SAVE_AND_RUN, RUN_ANYWAY = "Save and Run", "Run Anyway"


class PermissionAsking:
    def __init__(
        self, connection: Connection, permissions: Permissions, questions: Questions, preview: Preview
    ) -> None:
        """`preview` shows edits in editors that can preview them."""
        self._connection = connection
        self._permissions = permissions
        self._questions = questions
        self._preview = preview

    @contextlib.asynccontextmanager
    async def asked(
        self, turn_id: str, session_id: str, request: PermissionRequest, hunk_ids: Sequence[str] = ()
    ) -> AsyncIterator[WaitingPermission]:
        """Ask until the block ends. The block awaits the `answer` of the yielded request."""
        waiting = self._permissions.open_request(turn_id, session_id, request, hunk_ids)
        asking = asyncio.create_task(self.ask(waiting))
        try:
            yield waiting
        finally:
            asking.cancel()
            self._permissions.close_request(waiting)

    async def ask(self, waiting: WaitingPermission) -> None:
        """Ask. Returns when the question was answered, or cannot be answered this way. Cancelling withdraws it."""
        if self._connection.client.understands("permission"):
            await self._ask_client(waiting)
        else:
            await self._ask_by_message(waiting)

    async def _ask_client(self, waiting: WaitingPermission) -> None:
        while not waiting.answer.done():
            waiting.asked = waiting.digest
            try:
                request = self._connection.request(incoming.REQUEST_PERMISSION, self._permissions.json(waiting))
                answer = await self._put(waiting, request)
                if waiting.asked != waiting.digest:
                    continue
                reply = incoming.PermissionReply.model_validate(answer)
                check_reply(waiting, reply)
            except (RequestFailed, ValidationError, RequestError):  # unanswered: the call stays waiting
                return
            self._permissions.resolve(waiting, reply)
            return

    async def _ask_by_message(self, waiting: WaitingPermission) -> None:
        """The order of the actions ensures that an accidental Enter grants nothing."""
        permissions, yes = self._permissions, self._allowing(waiting.request)
        look = REVIEW if waiting.request.edits else SHOW
        while not waiting.answer.done():
            waiting.asked = waiting.digest
            actions = [look, REJECT]
            if not permissions.needs_showing(waiting):
                actions += yes
            question = self._questions.ask(permissions.message(waiting), actions, level=WARNING)
            title = await self._put(waiting, question)
            if waiting.asked != waiting.digest or waiting.is_outdated:
                continue
            if title in yes and permissions.needs_showing(waiting):  # its document was closed meanwhile
                continue
            if title == look:
                if not await self._previewed(waiting):
                    await permissions.show_whole(waiting)
                continue
            if title == REJECT:
                permissions.resolve(waiting, incoming.PermissionReply(outcome="reject"))
            elif title in yes:
                permissions.resolve(waiting, yes[title])
            return

    def _allowing(self, request: PermissionRequest) -> dict[str, incoming.PermissionReply]:
        """The titles that allow the request, in order, and the answer of each."""
        allow = incoming.PermissionReply(outcome="allow")
        if request.unsaved:
            saves = self._connection.client.understands("save")
            first = {SAVE_AND_RUN: incoming.PermissionReply(outcome="allow", save=True)} if saves else {}
            return {**first, RUN_ANYWAY: allow}
        yes, more, scope = (APPLY, APPLY_TURN, "turn") if request.edits else (ALLOW, ALLOW_SESSION, "session")
        narrowest = [(more, grant) for grant in request.grants if grant.scope == scope][:1]
        widest = [(title, grant) for grant in request.grants[-1:] if (title := _always(grant))]
        granting = {title: allow.model_copy(update={"grant": grant.id}) for title, grant in (*narrowest, *widest)}
        return {yes: allow, **granting}

    async def _put(self, waiting: WaitingPermission, question: Coroutine[Any, Any, Any]) -> Any:
        """The answer. None if the question was withdrawn because the user edited the proposal or has seen all of it."""
        waiting.outdated = asyncio.get_running_loop().create_future()
        asked = asyncio.ensure_future(question)
        try:
            await asyncio.wait({asked, waiting.outdated}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
            await asyncio.wait({asked})
        return None if asked.cancelled() else asked.result()

    async def _previewed(self, waiting: WaitingPermission) -> bool:
        """Show the proposal in the editor's own preview, where the user ticks the hunks to apply.

        Returns False without showing it for a proposal that is applied as a whole or not at all (there is nothing to
        tick), and for a proposal that moves or removes files (a preview shows only text).
        """
        request = waiting.request
        if request.atomic or any(edit.operation for edit in request.edits):
            return False
        shown = waiting.digest
        if not await self._preview.show(waiting.hunks):
            return False
        waiting.seen = shown
        return True


def _always(grant: Grant) -> str:
    """The title for the widest grant if it lasts always; empty if it does not, or if the title is too long."""
    title = f"Always allow {visible(grant.covers.removesuffix(', always'))}"
    return title if grant.scope == "always" and len(title) <= ALWAYS_LONGEST else ""
