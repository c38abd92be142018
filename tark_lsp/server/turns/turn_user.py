"""TurnUser: the user of one turn, for the agent (`agent.user_interface`). Asks for permission, and reviews edits."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tark_lsp.agent.grants import Grant
from tark_lsp.agent.selection import hunks_outside_selection
from tark_lsp.agent.user_interface import (
    HunkOutcome,
    PermissionAnswer,
    PermissionRequest,
    Permitted,
    Rejected,
    ReviewResult,
)
from tark_lsp.errors import WorkspaceError
from tark_lsp.review.alarms import Alarms
from tark_lsp.review.decisions import Reviews
from tark_lsp.server.asking.permission_asking import PermissionAsking
from tark_lsp.server.asking.waiting_permission import WaitingPermission
from tark_lsp.server.prompting.comments import PromptComment
from tark_lsp.server.protocol.incoming import PermissionReply
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, split_lines

LATE_SECONDS = 3.0
"""How long a cancelled turn waits for an edit that the editor is applying."""
Result = TypeVar("Result")


class TurnUser:
    def __init__(
        self,
        turn_id: str,
        session_id: str,
        context: ToolContext,
        asking: PermissionAsking,
        reviews: Reviews,
        *,
        review_after: Callable[[], bool],
        comment: PromptComment | None,
        alarms: Alarms | None = None,
    ) -> None:
        """`review_after()`: whether applied edits wait for a decision; it depends on the session's current level.
        `comment`: the `tark:` comment that the prompt came from; the first edit removes it. `alarms`: None if edits are
        not checked for new errors."""
        self._turn_id = turn_id
        self._session_id = session_id
        self._context = context
        self._asking = asking
        self._reviews = reviews
        self._review_after = review_after
        self._comment = comment
        self._alarms = alarms
        self._alarm = None if alarms is None else alarms.open_alarm()

    async def request_permission(self, request: PermissionRequest) -> PermissionAnswer:
        async with self._asking.asked(self._turn_id, self._session_id, request) as waiting:
            reply = await waiting.answer
        if reply.outcome == "allow":
            return Permitted(granted(request, reply), save=reply.save)
        return Rejected(reply.reason or "")

    async def review_edits(self, request: PermissionRequest, *, ask: bool) -> ReviewResult:
        hunks, extra = self._add(request)
        try:
            grant = await (self._ask(request, hunks, extra) if ask else self._apply([*hunks, *extra]))
        except asyncio.CancelledError:
            return self._reviewed(hunks, cancelled=True)
        return self._reviewed(hunks, grant)

    async def _apply(self, hunks: Sequence[str]) -> None:
        waits = self._review_after()
        if not waits:
            self._reviews.unasked.update(hunks)
        await self._follow(self._reviews.accept(hunks, decide=not waits))

    async def _ask(self, request: PermissionRequest, hunks: Sequence[str], extra: Sequence[str]) -> Grant | None:
        decided: asyncio.Future[None] = asyncio.ensure_future(self._reviews.wait_until_decided(hunks))
        try:
            async with self._asking.asked(self._turn_id, self._session_id, request, [*hunks, *extra]) as waiting:
                either: list[asyncio.Future[Any]] = [waiting.answer, decided]
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if waiting.answer.done():
                    return await self._follow(self._carry_out(waiting, waiting.answer.result()))
            return None
        finally:
            decided.cancel()
            # A cancelled turn withdraws its undecided hunks. But if the editor was closed, the next server gets them,
            # because that is not an answer of the user.
            if not self._reviews.ending:
                current = self._reviews.hunks.get_hunks([*hunks, *extra])
                undecided = [hunk.id for hunk in current if hunk.pending and not hunk.life.in_flight]
                await asyncio.shield(self._reviews.reject(undecided, "cancelled"))

    async def _follow(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Waits for an edit that was sent to the editor, even if the turn is cancelled, so that the result of the call
        is known. The wait is limited, so an editor that does not answer cannot delay the end of the turn."""
        task = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not self._reviews.ending:
                await asyncio.wait([task], timeout=LATE_SECONDS)
            raise

    async def propose_edits(self, request: PermissionRequest) -> ReviewResult:
        hunks, _ = self._add(request)
        return self._reviewed(hunks)

    def unreviewed_edits(self) -> Mapping[str, Path]:
        return self._reviews.unreviewed_edits()

    def report_new_errors(self, new: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> None:
        if self._alarms is not None and self._alarm is not None:
            self._alarms.report_errors(self._alarm, new, shown)
            self._alarm = self._alarms.open_alarm()

    async def _carry_out(self, waiting: WaitingPermission, reply: PermissionReply) -> Grant | None:
        undecided = [hunk.id for hunk in waiting.hunks if hunk.pending]
        if reply.outcome != "allow":
            await self._reviews.reject(undecided, reply.reason or "")
            return None
        edited = {item.hunk_id: item.new_text for item in reply.edited}
        for hunk in waiting.hunks:
            if hunk.id in edited and not hunk.operation:
                await self._reviews.rewrite(hunk.id, edited[hunk.id])
        wanted = [hunk_id for hunk_id in waiting.hunk_ids if reply.hunks is None or hunk_id in reply.hunks]
        chosen = [hunk_id for hunk_id in wanted if hunk_id in undecided]
        if chosen:
            self._reviews.ungroup(hunk_id for hunk_id in waiting.hunk_ids if hunk_id not in wanted)
        # Accepted together, so that one undo step in the editor takes all hunks of a file back.
        await self._reviews.accept(chosen)
        left = [hunk.id for hunk in self._reviews.hunks.get_hunks(undecided) if hunk.pending]
        await self._reviews.reject(left, reply.reason or "")
        return granted(waiting.request, reply)

    def _reviewed(
        self, hunk_ids: Sequence[str], grant: Grant | None = None, *, cancelled: bool = False
    ) -> ReviewResult:
        hunks = self._reviews.hunks.get_hunks(hunk_ids)
        outcomes = (
            HunkOutcome(hunk.origin, hunk.proposed, hunk.life.outcome, hunk.reason, hunk.operation) for hunk in hunks
        )
        return ReviewResult(tuple(outcomes), grant, cancelled)

    def _add(self, request: PermissionRequest) -> tuple[list[str], list[str]]:
        """The ids of the request's hunks, and of the hunks that remove the `tark:` comment of the prompt."""
        selection = self._context.selection
        edits = [(edit, hunks_outside_selection(edit, selection)) for edit in request.edits]
        hunks = self._reviews.add_proposal(self._turn_id, edits, whole=request.atomic)
        if self._alarms is not None and self._alarm is not None:
            self._alarms.watch_hunks(self._alarm, hunks)
        removal = self._comment_removal(request.edits)
        self._comment = None
        return hunks, [] if removal is None else self._reviews.add_proposal(self._turn_id, [(removal, ())])

    def _comment_removal(self, edits: Sequence[ProposedEdit]) -> ProposedEdit | None:
        """The edit that removes the comment. None if there is no comment, or if the edits change its lines."""
        if self._comment is None or not edits:
            return None
        comment = self._comment
        try:
            now = self._context.workspace.read(comment.snapshot.path)
        except WorkspaceError:
            return None
        lines = tuple(split_lines(comment.snapshot.text)[comment.start : comment.end])
        marked = ProposedEdit(now.path, comment.snapshot, (Hunk(comment.start, lines, ()),))
        removal, _ = rebase(marked, now)
        changed = [hunk for edit in edits if edit.path == now.path for hunk in edit.hunks]
        clear = all(hunk.end <= other.start or other.end <= hunk.start for hunk in removal.hunks for other in changed)
        return removal if removal.hunks and clear else None


def granted(request: PermissionRequest, reply: PermissionReply) -> Grant | None:
    return next((grant for grant in request.grants if grant.id == reply.grant), None)
