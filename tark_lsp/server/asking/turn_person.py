"""The person of one turn, as the agent sees them: asks by `Permissions`, has edits decided and applied by `Reviews`."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tark_lsp.agent.approval import Grant
from tark_lsp.agent.person import (
    Answer,
    HunkOutcome,
    HunkState,
    PermissionRequest,
    Permitted,
    Rejected,
    Reviewed,
)
from tark_lsp.agent.selection import outside
from tark_lsp.errors import WorkspaceError
from tark_lsp.server.asking.permission import Permissions
from tark_lsp.server.asking.waiting import Waiting
from tark_lsp.server.prompting.comments import PromptComment
from tark_lsp.server.protocol import PermissionReply
from tark_lsp.server.review.alarms import Alarms
from tark_lsp.server.review.hunks import ReviewHunk
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.tools.tool import Diagnostic, ToolContext
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, split_lines

OUTCOMES = {
    "accepted": HunkState.APPLIED,
    "rejected": HunkState.REJECTED,
    "conflict": HunkState.CONFLICT,
    "stale": HunkState.FAILED,
}


class TurnPerson:
    def __init__(
        self,
        turn_id: str,
        session_id: str,
        context: ToolContext,
        permissions: Permissions,
        reviews: Reviews,
        *,
        review_after: bool,
        comment: PromptComment | None,
        alarms: Alarms | None = None,
    ) -> None:
        """`comment`: the `tark:` comment the prompt came from; it goes with the first edit. `alarms` None: nobody looks
        at what an edit breaks."""
        self._turn_id = turn_id
        self._session_id = session_id
        self._context = context
        self._permissions = permissions
        self._reviews = reviews
        self._review_after = review_after
        self._comment = comment
        self._alarms = alarms
        self._alarm = None if alarms is None else alarms.watch()

    async def permit(self, request: PermissionRequest) -> Answer:
        waiting = self._permissions.open(self._turn_id, self._session_id, request)
        asking = asyncio.create_task(self._permissions.ask(waiting))
        try:
            reply = await waiting.answer
        finally:
            asking.cancel()
            self._permissions.close(waiting)
        if reply.outcome == "allow":
            return Permitted(granted(request, reply))
        return Rejected(reply.reason or "")

    async def review(self, request: PermissionRequest, *, ask: bool) -> Reviewed:
        hunks, extra = self._add(request)
        if not ask:
            await asyncio.shield(self._reviews.accept([*hunks, *extra], decide=not self._review_after))
            return reviewed(hunks)
        waiting = self._permissions.open(self._turn_id, self._session_id, request, [*hunks, *extra])
        asking = asyncio.create_task(self._permissions.ask(waiting))
        decided: asyncio.Future[None] = asyncio.ensure_future(self._reviews.decided(hunks))
        grant = None
        try:
            either: list[asyncio.Future[Any]] = [waiting.answer, decided]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if waiting.answer.done():
                # Shielded: an edit that is on its way to the editor is followed to its end, whoever cancels the turn.
                grant = await asyncio.shield(self._carry_out(waiting, waiting.answer.result()))
        finally:
            asking.cancel()
            decided.cancel()
            self._permissions.close(waiting)
            # What nobody decided is not left lying about: a cancelled turn takes its questions with it. But to close
            # the editor is no answer: the next server has them.
            if not self._reviews.ending:
                undecided = [each for each in (*hunks, *extra) if each.open and not each.applying]
                await asyncio.shield(self._reviews.reject(undecided, "cancelled"))
        return reviewed(hunks, grant)

    async def propose(self, request: PermissionRequest) -> Reviewed:
        hunks, _ = self._add(request)
        return reviewed(hunks)

    def alarm(self, new: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> None:
        if self._alarms is not None and self._alarm is not None:
            self._alarms.looked(self._alarm, new, shown)
            self._alarm = self._alarms.watch()

    async def _carry_out(self, waiting: Waiting, reply: PermissionReply) -> Grant | None:
        undecided = [each for each in waiting.hunks if each.open]
        if reply.outcome != "allow":
            await self._reviews.reject(undecided, reply.reason or "")
            return None
        edited = {each.hunk_id: each.new_text for each in reply.edited}
        for each in waiting.hunks:
            if each.id in edited and not each.applied and not each.operation:
                self._reviews.write(each, edited[each.id])
        wanted = [each for each in waiting.hunks if reply.hunks is None or each.id in reply.hunks]
        chosen = [each for each in wanted if each in undecided]
        if chosen:
            self._reviews.leave_out(each for each in waiting.hunks if each not in wanted)
        # One undo step takes an accept back, so the hunks of a file that are accepted together go together.
        await self._reviews.accept(chosen)
        await self._reviews.reject([each for each in undecided if each.open], reply.reason or "")
        return granted(waiting.request, reply)

    def _add(self, request: PermissionRequest) -> tuple[list[ReviewHunk], list[ReviewHunk]]:
        """The request's hunks, and beside them the removal of the comment that asked for this."""
        selection = self._context.selection
        edits = [(edit, outside(edit, selection)) for edit in request.edits]
        hunks = self._reviews.add(self._turn_id, edits, whole=request.whole)
        for each in hunks:
            each.alarm = self._alarm
        removal = self._comment_removal(request.edits)
        self._comment = None
        return hunks, [] if removal is None else self._reviews.add(self._turn_id, [(removal, ())])

    def _comment_removal(self, edits: Sequence[ProposedEdit]) -> ProposedEdit | None:
        """None where there is no comment, it is gone, or the edits take care of it themselves."""
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
        taken = [hunk for edit in edits if edit.path == now.path for hunk in edit.hunks]
        clear = all(hunk.end <= each.start or each.end <= hunk.start for hunk in removal.hunks for each in taken)
        return removal if removal.hunks and clear else None


def reviewed(hunks: Sequence[ReviewHunk], grant: Grant | None = None) -> Reviewed:
    return Reviewed(tuple(_outcome(each) for each in hunks), grant)


def _outcome(each: ReviewHunk) -> HunkOutcome:
    """A hunk that is applied and still to be decided (`editReview: after`) is applied, as far as the model goes."""
    state = HunkState.APPLIED if each.applied else OUTCOMES.get(each.state, HunkState.PENDING)
    return HunkOutcome(each.origin, each.proposed, state, each.reason, each.operation)


def granted(request: PermissionRequest, reply: PermissionReply) -> Grant | None:
    return next((grant for grant in request.grants if grant.id == reply.grant), None)
