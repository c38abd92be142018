"""Settles the edits of one answer as one proposal. They are previewed on top of each other and decided part by part.
Each call gets its own result."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from tark_lsp.agent import approval, consent, hooking, selection
from tark_lsp.agent.attribution import divide_into_parts, outcomes_of_call
from tark_lsp.agent.call_hunks import CallHunks
from tark_lsp.agent.drafts import compare_edits
from tark_lsp.agent.edit_check import FoundErrors
from tark_lsp.agent.events import CallChanged, CallStatus, Step
from tark_lsp.agent.grants import grants_for
from tark_lsp.agent.part_receipts import PartReceipts, applied_of
from tark_lsp.agent.parts import Draft, ProposalPart, digest_of_changes
from tark_lsp.agent.results import ReadyCall, announce_call, failure_text, failures_as_results, finish_call
from tark_lsp.agent.state import Turn
from tark_lsp.agent.user_interface import HunkOutcome, HunkState, PermissionRequest, ReviewResult, preview_digest
from tark_lsp.agent.wording import describe_applied, describe_outcome, proposal_title
from tark_lsp.errors import ToolError, WorkspaceError
from tark_lsp.messages import ToolResult
from tark_lsp.tools.read_diagnostics import diagnostic_line
from tark_lsp.tools.tool import Preview, ToolKind
from tark_lsp.workspace.edits import MOVED, ProposedEdit, rebase
from tark_lsp.workspace.placing.thread import in_thread

NOT_AGAIN = "do not make the same edit again; ask the person, or do without it"
UNDECIDED = "not decided"
ALREADY = "nothing changed: already there"
STANDING = frozenset({HunkState.APPLIED, HunkState.PENDING})
"""States of changes that are in the text or wait for the user. They stay so even if the turn is cancelled."""
MOST_ERRORS = 10
KINDS = {"": ToolKind.EDIT, "remove": ToolKind.DELETE, "move": ToolKind.MOVE}
"""The kind of a question about edits that all have the same operation."""


async def settle_proposal(turn: Turn, items: Sequence[ReadyCall], results: dict[str, ToolResult]) -> None:
    """Fills `results` for all of `items`."""
    drafts: list[Draft] = []
    try:
        for item in items:
            with failures_as_results(turn, [item.call], results):
                drafted = await draft_call(turn, item)
                if drafted is None:
                    finish_call(turn, item.call, results, ALREADY)
                else:
                    drafts.append(drafted)
        if drafts:
            with failures_as_results(turn, [draft.item.call for draft in drafts], results):
                await decide_proposal(turn, drafts, tuple(turn.context.drafts.values()), results)
    finally:
        turn.context.drafts.clear()


async def draft_call(turn: Turn, item: ReadyCall) -> Draft | None:
    """Preview one call on top of the earlier drafts, and add it to them. Raises errors that `failures_as_results`
    handles.

    None if the text already contains the edits, so there is nothing to decide.
    """
    context = turn.context
    item = await hooking.before_tool(turn, item)
    previewed = await item.tool.preview(item.arguments, context)
    item, previewed = await hooking.before_edit(turn, item, previewed)
    earlier = dict(context.drafts)
    compared = await in_thread(compare_edits, previewed.edits, earlier, context.selection)
    preview, own = replace(previewed, edits=compared.edits), compared.own
    unfenced = turn.request.kind.selection_only and context.selection is None
    beyond = compared.edits if unfenced else compared.beyond
    if turn.request.kind.selection_only and beyond:
        raise ToolError(
            "denied",
            f"this turn can only change the selection, and the edit of {context.workspace.display(beyond[0].path)} "
            "changes text outside it",
            hint="use replace_selection",
        )
    decision = consent.decide_now(turn, item, preview)
    outside = consent.decide_now(turn, item, preview, outside_selection=True) if beyond else decision
    drafted = Draft(item, preview, own, decision, outside)
    if drafted.digest in turn.rejected:
        raise ToolError("denied", "the person already rejected this edit in this turn", hint="do without it")
    announce_call(turn, item, replace(preview, edits=own), CallStatus.PENDING)
    if compared.nothing_new:
        return None
    context.drafts.update({edit.path: edit for edit in preview.edits})
    return drafted


async def decide_proposal(
    turn: Turn, drafts: Sequence[Draft], edits: tuple[ProposedEdit, ...], results: dict[str, ToolResult]
) -> None:
    """Ask about the proposal and apply it, part by part, and write the result of every call."""
    divided, left = await in_thread(divide_into_parts, drafts, edits, turn.context.selection)
    edits = tuple(part.edit for part in divided)
    before = (
        await turn.resources.edit_check.look_before(edits)
        if turn.resources.edit_check and not all(part.shown for part in left)
        else None
    )
    outcomes: list[HunkOutcome] = []
    found, is_decided = None, False
    try:
        while left:
            reviewed = await review_part(turn, left[0])
            outcomes += reviewed.outcomes
            del left[0]
            if reviewed.cancelled:
                raise asyncio.CancelledError
        is_decided = True
        await hooking.after_edits(turn, [made for edit in edits if (made := applied_of(edit, outcomes))])
        if (
            turn.resources.edit_check
            and before
            and (applied := [made for edit in edits if (made := applied_of(edit, outcomes))])
        ):
            turn.emit(Step("checking the edit for new errors"))
            found = await turn.resources.edit_check.find_new_errors(before, applied)
    finally:  # even if a later part fails or is cancelled, the applied parts are recorded and reported
        for edit in edits:
            remember_edit(turn, edit, applied_of(edit, outcomes))
        if found is not None:
            turn.user.report_new_errors(found.new, found.shown)
        undecided = [outcome for part in left for edit in part.edits for outcome in undecided_of(edit)]
        every = [*outcomes, *undecided]
        write_results(turn, drafts, divided, every, found, results, is_decided=is_decided)


def write_results(
    turn: Turn,
    drafts: Sequence[Draft],
    divided: Sequence[CallHunks],
    outcomes: Sequence[HunkOutcome],
    found: FoundErrors | None,
    results: dict[str, ToolResult],
    *,
    is_decided: bool,
) -> None:
    """Write the results of all calls. If not everything was decided, only calls whose changes are applied or wait for
    the user get a result.

    New errors are part of the result of the last call that changed something.
    """
    told = {
        index: [outcome for part in divided for outcome in outcomes_of_call(index, draft, part, outcomes)]
        for index, draft in enumerate(drafts)
    }
    changed = [index for index, mine in told.items() if any(outcome.state is HunkState.APPLIED for outcome in mine)]
    for index, mine in told.items():
        if is_decided or any(outcome.state in STANDING for outcome in mine):
            noted = describe_new_errors(turn, found) if found and index == changed[-1] else ""
            write_result(turn, drafts[index], mine, noted, results)


def describe_new_errors(turn: Turn, found: FoundErrors) -> str:
    """The lines about new errors at the end of a result; "" if the model gets none."""
    context = turn.context
    errors = [error for error in found.new if not context.is_read_denied(error.path)]
    if not errors:
        return ""
    lines = [diagnostic_line(context, error) for error in sorted(errors, key=lambda error: (error.path, error.line))]
    more = [f"and {len(lines) - MOST_ERRORS} more"] if len(lines) > MOST_ERRORS else []
    count = f"{len(errors)} new error{'s' * (len(errors) > 1)}"
    return "\n".join([f"\n\nSince then the editor shows {count}:", *lines[:MOST_ERRORS], *more])


async def review_part(turn: Turn, part: ProposalPart) -> ReviewResult:
    """Ask about one part if necessary, and apply it. The receipts are for the whole part."""
    receipts = PartReceipts(turn, part)
    part = receipts.decide()
    request = permission_request(turn, part)
    ask = isinstance(part.decision, approval.Ask)
    if ask or part.shown:
        receipts.show(request)
    status = CallStatus.WAITING if ask and not part.shown else CallStatus.IN_PROGRESS
    for draft in part.drafts:
        turn.emit(CallChanged(draft.item.call_id, status))
    if part.shown:
        reviewed = await turn.user.propose_edits(request)
    else:
        async with turn.asking:
            turn.emit(Step(f"waiting for you: {request.title}" if ask else request.title))
            try:
                reviewed = await turn.user.review_edits(request, ask=ask)
            except BaseException:  # also a cancellation: each approved edit must get its end
                receipts.cut_off()
                raise
            receipts.end(reviewed, asked=ask)
    if reviewed.grant is not None:
        turn.keep_grant(reviewed.grant)
    standing = {outcome.path for outcome in reviewed.outcomes if outcome.state in STANDING}
    for outcome in reviewed.outcomes:
        if not reviewed.cancelled or outcome.path in standing:
            turn.outcomes.setdefault(outcome.path, []).append(outcome.state)
    return reviewed


def permission_request(turn: Turn, part: ProposalPart) -> PermissionRequest:
    workspace = turn.context.workspace
    title = proposal_title(part.edits, workspace.display)
    operations = {edit.operation for edit in part.edits}
    kind = KINDS[operations.pop()] if len(operations) == 1 else ToolKind.EDIT
    preview = Preview(title, kind, max(draft.preview.risk for draft in part.drafts), edits=part.edits)
    digest = preview_digest(preview)
    why, grants = "", grants_for(preview, workspace, digest[:12])
    if isinstance(part.decision, approval.Ask):
        why, grants = part.decision.why, () if part.decision.once else grants
    call_ids = tuple(draft.item.call_id for draft in part.drafts)
    return PermissionRequest(
        call_ids, title, kind, preview.risk, why, digest, None, part.edits, grants, atomic=part.atomic
    )


def undecided_of(edit: ProposedEdit) -> list[HunkOutcome]:
    """The outcomes of an edit that was not decided, for results that also contain decided parts."""
    state = HunkState.FAILED
    outcomes = [HunkOutcome(edit.path, hunk, state, UNDECIDED, "remove" if edit.removes else "") for hunk in edit.hunks]
    if edit.operation == "move":
        outcomes.append(HunkOutcome(edit.path, MOVED, state, UNDECIDED, "move"))
    return outcomes


def write_result(
    turn: Turn, draft: Draft, mine: Sequence[HunkOutcome], noted: str, results: dict[str, ToolResult]
) -> None:
    """Write the result of one call. `mine` are the outcomes of its changes; `noted` is added if any was applied."""
    display = turn.context.workspace.display
    states = {outcome.state for outcome in mine}
    told = {outcome.path for outcome in mine}
    own = [named for edit, named in zip(draft.own, draft.named, strict=True) if edit.path in told or not told]
    names = ", ".join(display(edit.path) for edit in own)
    reasons = "; ".join(dict.fromkeys(outcome.reason for outcome in mine if outcome.reason))
    asked = isinstance(draft.decision, approval.Ask) or isinstance(draft.beyond, approval.Ask)
    if HunkState.APPLIED in states and asked:
        turn.loops.forgive_call(draft.item.tool.name, draft.item.call.arguments)
    if HunkState.APPLIED in states and len(states) > 1:
        turn.rejected |= {hunk_digest(draft, outcome) for outcome in mine if outcome.state is HunkState.REJECTED}
        applied = sum(outcome.state is HunkState.APPLIED for outcome in mine)
        others = [outcome for outcome in mine if outcome.state is not HunkState.APPLIED]
        places = "; ".join(describe_outcome(outcome, display) for outcome in others)
        content = f"Applied in part: {applied} of {len(mine)} changes to {names}. Not applied: {places}."
        content += f" Read the file again before you go on.{noted}"
        finish_call(turn, draft.item.call, results, content, changed=True)
    elif states == {HunkState.APPLIED}:
        but = f" But {reasons}: read the file again." if reasons else ""
        finish_call(turn, draft.item.call, results, f"{describe_applied(own, display)}{but}{noted}", changed=True)
    elif not states:
        content = f"Nothing is left to apply: another edit of this answer reverted what this one changed in {names}."
        finish_call(turn, draft.item.call, results, content)
    elif HunkState.PENDING in states:
        content = f"Shown as a proposal for {names}; nothing was written."
        finish_call(turn, draft.item.call, results, content)
    elif states == {HunkState.REJECTED}:
        turn.rejected.add(draft.digest)
        content = failure_text("denied", f"the person rejected it{': ' + reasons if reasons else ''}", NOT_AGAIN)
        finish_call(turn, draft.item.call, results, content, CallStatus.REJECTED)
    else:
        code = "conflict" if HunkState.CONFLICT in states else "stale"
        content = failure_text(code, reasons or "the text changed in the meantime", "read the file again")
        finish_call(turn, draft.item.call, results, content, CallStatus.FAILED)


def hunk_digest(draft: Draft, outcome: HunkOutcome) -> str:
    """The digest of a call that would make only this change of `draft`, which the user rejected."""
    own = next(edit for edit in draft.own if edit.path == outcome.path)
    moves = outcome.operation == "move"
    hunks = () if moves else (outcome.hunk,)
    target = own.target if moves else None
    return digest_of_changes([replace(own, hunks=hunks, removes=outcome.operation == "remove", target=target)])


def remember_edit(turn: Turn, edit: ProposedEdit, applied: ProposedEdit | None) -> None:
    """Update the text that the model knows: it includes the edit, but not what the user typed since. Move the selection
    accordingly."""
    if applied is None:
        return
    context = turn.context
    known, _ = rebase(applied, context.seen.pop(edit.path, edit.base))
    if applied.removes:
        return
    try:
        now = context.workspace.read(applied.place)
    except WorkspaceError:  # already deleted or unreadable: the model has to read it again
        return
    context.seen[now.path] = known.drafted
    if context.selection is not None:
        context.selection = selection.follow_selection(context.selection, applied, now)
