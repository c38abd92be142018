"""A person who answers from a list, and whose editor applies what they accept."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from tark_lsp.agent.user_interface import (
    HunkOutcome,
    HunkState,
    PermissionAnswer,
    PermissionRequest,
    Permitted,
    Rejected,
    ReviewResult,
)
from tark_lsp.errors import FileMissing
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.workspace.edits import MOVED, Operation, ProposedEdit, rebase
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.outcomes import Applied, Outcome
from tark_lsp.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Some:
    """Accepts the hunks for which `wanted` holds, rejects the rest for `reason`."""

    wanted: Callable[[Hunk], bool]
    reason: str = ""


Decision: TypeAlias = Permitted | Rejected | Some
Question: TypeAlias = PermissionRequest


@dataclass(slots=True)
class ScriptedUser:
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

    async def request_permission(self, request: PermissionRequest) -> PermissionAnswer:
        decision = await self._ask(request)
        assert not isinstance(decision, Some)
        return decision

    async def review_edits(self, request: PermissionRequest, *, ask: bool) -> ReviewResult:
        if not ask:
            self.unasked.append(request)
        decision = await self._ask(request) if ask else Permitted()
        outcomes = [item for edit in request.edits for item in await self._carry_out(edit, decision)]
        return ReviewResult(tuple(outcomes), decision.grant if isinstance(decision, Permitted) else None)

    async def propose_edits(self, request: PermissionRequest) -> ReviewResult:
        self.shown.append(request)
        return ReviewResult(
            tuple(HunkOutcome(edit.path, hunk, HunkState.PENDING) for edit in request.edits for hunk in edit.hunks)
        )

    def unreviewed_edits(self) -> dict[str, Path]:
        """Every edit that was applied without a question."""
        edits = [edit for request in self.unasked for edit in request.edits]
        return {str(number): edit.path for number, edit in enumerate(edits)}

    def report_new_errors(self, new: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> None:
        self.alarms.append(([item.message for item in new], [item.message for item in shown]))

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
        """The text first, then what becomes of the file; a move is decided with the hunk that has no lines."""
        operation: Operation = "remove" if edit.removes else ""
        every = [(hunk, operation) for hunk in edit.hunks]
        if edit.target is not None:
            every.append((MOVED, "move"))
        match decision:
            case Rejected(reason):
                return [HunkOutcome(edit.path, hunk, HunkState.REJECTED, reason, item) for hunk, item in every]
            case Permitted():
                chosen, reason = every, ""
            case Some(wanted, reason):
                chosen = [item for item in every if wanted(item[0])]
        moves = (MOVED, "move") in chosen
        part = replace(
            edit.only(hunk for hunk, item in chosen if item != "move"), target=edit.target if moves else None
        )
        applied, conflicts, failure = await self._apply(part) if chosen else (False, (), "")

        def outcome(hunk: Hunk, each: Operation) -> HunkOutcome:
            state, why = HunkState.APPLIED if applied else HunkState.FAILED, failure
            if (hunk, each) not in chosen:
                state, why = HunkState.REJECTED, reason
            elif hunk in conflicts:
                state, why = HunkState.CONFLICT, "the person changed these lines"
            return HunkOutcome(edit.path, hunk, state, why, each)

        return [outcome(*item) for item in every]

    async def _apply(self, edit: ProposedEdit) -> tuple[bool, tuple[Hunk, ...], str]:
        try:
            now = self.workspace.read(edit.path)
        except FileMissing:
            now = Snapshot(edit.path, "", exists=False)
        moved, conflicts = rebase(edit, now)
        outcome: Outcome = Applied(now)
        if edit.removes and not conflicts:
            outcome = await self.workspace.remove(now)
        elif moved.hunks:
            outcome = await self.workspace.apply(replace(moved, target=None), "Tark")
        elif edit.target is None:
            return False, conflicts, ""
        if edit.target is not None and isinstance(outcome, Applied):
            outcome = await self.workspace.move(outcome.snapshot, edit.target)
        return isinstance(outcome, Applied), conflicts, "" if isinstance(outcome, Applied) else outcome.reason
