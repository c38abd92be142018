"""A person who answers from a list, and whose editor applies what they accept."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tark_lsp.agent.person import (
    Answer,
    HunkOutcome,
    HunkState,
    PermissionRequest,
    Permitted,
    Rejected,
    Reviewed,
)
from tark_lsp.errors import FileMissing
from tark_lsp.tools.tool import Diagnostic
from tark_lsp.workspace.edits import Applied, Hunk, ProposedEdit, rebase
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Some:
    """Accepts the hunks for which `wanted` holds, rejects the rest for `reason`."""

    wanted: Callable[[Hunk], bool]
    reason: str = ""


Decision: TypeAlias = Permitted | Rejected | Some
Question: TypeAlias = PermissionRequest


@dataclass(slots=True)
class ScriptedPerson:
    """Says yes where `decisions` are used up, after `seconds`. `meanwhile` is done while a question is open."""

    workspace: Workspace
    decisions: list[Decision] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None
    seconds: float = 0.0
    asked: list[PermissionRequest] = field(default_factory=list)
    """Each question, in order; what was applied or shown without one is not in it."""
    unasked: list[PermissionRequest] = field(default_factory=list)
    shown: list[PermissionRequest] = field(default_factory=list)
    alarms: list[tuple[list[str], list[str]]] = field(default_factory=list)
    """The messages of new errors, and of all, after each look."""
    open: int = 0
    most_open: int = 0

    async def permit(self, request: PermissionRequest) -> Answer:
        decision = await self._ask(request)
        assert not isinstance(decision, Some)
        return decision

    async def review(self, request: PermissionRequest, *, ask: bool) -> Reviewed:
        if not ask:
            self.unasked.append(request)
        decision = await self._ask(request) if ask else Permitted()
        outcomes = [each for edit in request.edits for each in await self._carry_out(edit, decision)]
        return Reviewed(tuple(outcomes), decision.grant if isinstance(decision, Permitted) else None)

    async def propose(self, request: PermissionRequest) -> Reviewed:
        self.shown.append(request)
        return Reviewed(
            tuple(HunkOutcome(edit.path, hunk, HunkState.PENDING) for edit in request.edits for hunk in edit.hunks)
        )

    def alarm(self, new: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> None:
        self.alarms.append(([each.message for each in new], [each.message for each in shown]))

    async def _ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        self.meanwhile()
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.open -= 1
        return self.decisions.pop(0) if self.decisions else Permitted()

    async def _carry_out(self, edit: ProposedEdit, decision: Decision) -> Iterable[HunkOutcome]:
        match decision:
            case Rejected(reason):
                return [HunkOutcome(edit.path, hunk, HunkState.REJECTED, reason) for hunk in edit.hunks]
            case Permitted():
                chosen, reason = list(edit.hunks), ""
            case Some(wanted, reason):
                chosen = [hunk for hunk in edit.hunks if wanted(hunk)]
        applied, conflicts, failure = await self._apply(edit.only(chosen))

        def outcome(hunk: Hunk) -> HunkOutcome:
            if hunk not in chosen:
                return HunkOutcome(edit.path, hunk, HunkState.REJECTED, reason)
            if hunk in conflicts:
                return HunkOutcome(edit.path, hunk, HunkState.CONFLICT, "the person changed these lines")
            return HunkOutcome(edit.path, hunk, HunkState.APPLIED if applied else HunkState.FAILED, failure)

        return [outcome(hunk) for hunk in edit.hunks]

    async def _apply(self, edit: ProposedEdit) -> tuple[bool, tuple[Hunk, ...], str]:
        if not edit.hunks:
            return False, (), ""
        try:
            now = self.workspace.read(edit.path)
        except FileMissing:
            now = Snapshot(edit.path, "", exists=False)
        moved, conflicts = rebase(edit, now)
        if not moved.hunks:
            return False, conflicts, ""
        outcome = await self.workspace.apply(moved, "Tark")
        return isinstance(outcome, Applied), conflicts, "" if isinstance(outcome, Applied) else outcome.reason
