"""The receipts of one part of a proposal, that is, of edits of several calls that are decided together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tark_lsp.agent.approval import Allow
from tark_lsp.agent.consent import receipt_id, with_receipt
from tark_lsp.agent.parts import ProposalPart, changes_anything, digest_of_changes
from tark_lsp.agent.receipting import YOU
from tark_lsp.agent.state import Turn
from tark_lsp.agent.user_interface import HunkOutcome, HunkState, PermissionRequest, ReviewResult
from tark_lsp.agent.wording import proposal_title
from tark_lsp.receipts.receipt import Step
from tark_lsp.workspace.edits import ProposedEdit


class PartReceipts:
    """The digest is of the changed texts. The user decides while the edits are applied, so their approval and the end
    are stored together afterwards.
    """

    def __init__(self, turn: Turn, part: ProposalPart) -> None:
        self._turn = turn
        self._part = part
        self._call_ids = tuple(draft.item.call_id for draft in part.drafts)
        self._call = receipt_id(self._call_ids)
        self._tool = ", ".join(dict.fromkeys(draft.item.tool.name for draft in part.drafts))
        self._digest = digest_of_changes(part.edits)
        self._title = proposal_title(part.edits, turn.context.workspace.display)

    def decide(self) -> ProposalPart:
        """The part. If it is allowed but the receipt cannot be stored, the user is asked instead."""
        decision = self._part.decision
        if isinstance(decision, Allow) and self._part.shown:
            return self._part  # it applies nothing
        decided = with_receipt(self._turn, self._call_ids, self._tool, self._digest, self._title, decision)
        return self._part if decided is decision else replace(self._part, decision=decided)

    def show(self, request: PermissionRequest) -> None:
        self._record(Step.SHOWN, request.why or "proposed only")

    def cut_off(self) -> None:
        self._turn.receipts.end(self._call, "cancelled or failed")

    def end(self, reviewed: ReviewResult, *, asked: bool) -> None:
        """Must be called after the edits are decided and applied."""
        states = Counter(str(outcome.state) for outcome in reviewed.outcomes)
        summary = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "nothing was done"
        applied = [done for edit in self._part.edits if (done := applied_of(edit, reviewed.outcomes))]
        if asked and not applied:
            self._record(Step.REFUSED, f"{YOU}: {summary}" if HunkState.REJECTED in states else summary)
            return
        if asked:
            given = f"{YOU}, with the grant of {reviewed.grant.covers}" if reviewed.grant is not None else YOU
            self._record(Step.APPROVED, given)
        ending = f"{summary}; the turn was cancelled" if reviewed.cancelled else summary
        self._turn.receipts.end(self._call, ending, digest_of_changes(applied))

    def _record(self, step: Step, detail: str) -> None:
        self._turn.receipts.record(step, self._call, self._tool, self._digest, self._title, detail)


def applied_of(edit: ProposedEdit, outcomes: Sequence[HunkOutcome]) -> ProposedEdit | None:
    """The part of the edit that is in the file now; None if nothing is."""
    made = [outcome for outcome in outcomes if outcome.state is HunkState.APPLIED and outcome.path == edit.path]
    operations = {outcome.operation for outcome in made}
    applied = edit.only(outcome.hunk for outcome in made if outcome.operation != "move")
    if edit.operation:
        target = edit.target if "move" in operations else None
        applied = replace(applied, removes="remove" in operations, target=target)
    return applied if changes_anything(applied) else None
