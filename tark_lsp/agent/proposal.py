"""The edits of one answer as one proposal: previewed on top of each other, settled part by part, told per call."""

from collections.abc import Sequence
from dataclasses import replace

from tark_lsp.agent import approval, consent, selection
from tark_lsp.agent.attribution import concerned
from tark_lsp.agent.events import CallChanged, CallStatus, Step
from tark_lsp.agent.gate import Found
from tark_lsp.agent.parts import Draft, Part, changes, digest_of_changes, parts
from tark_lsp.agent.person import HunkOutcome, HunkState, PermissionRequest, digest_of
from tark_lsp.agent.results import Ready, announce, failure, failures_told, finish
from tark_lsp.agent.state import Turn
from tark_lsp.agent.wording import done, place_of, title_of
from tark_lsp.errors import ToolError, WorkspaceError
from tark_lsp.messages import ToolResult
from tark_lsp.tools.read_diagnostics import as_line
from tark_lsp.tools.tool import Preview, ToolKind
from tark_lsp.workspace.edits import MOVED, ProposedEdit, rebase

NOT_AGAIN = "do not make the same edit again; ask what is wanted, or do without it"
UNDECIDED = "it was not decided"
MOST_ERRORS = 10
KINDS = {"": ToolKind.EDIT, "remove": ToolKind.DELETE, "move": ToolKind.MOVE}
"""How a client draws a question about edits of one operation only."""


async def settle(turn: Turn, items: Sequence[Ready], results: dict[str, ToolResult]) -> None:
    """Fills `results` for all of `items`."""
    drafts: list[Draft] = []
    try:
        for item in items:
            with failures_told(turn, [item.call], results):
                drafts.append(await draft(turn, item))
        if drafts:
            with failures_told(turn, [each.item.call for each in drafts], results):
                await decide(turn, drafts, tuple(turn.context.drafts.values()), results)
    finally:
        turn.context.drafts.clear()


async def draft(turn: Turn, item: Ready) -> Draft:
    """Preview one call on top of the drafts so far and add it to them. Raises what `failures_told` tells."""
    context = turn.context
    preview = await item.tool.preview(item.arguments, context)
    preview = replace(preview, edits=tuple(selection.divided(edit, context.selection) for edit in preview.edits))
    own = tuple(on_top_of(context.drafts.get(edit.path), edit) for edit in preview.edits)
    unfenced = turn.kind.fenced and context.selection is None
    beyond = [edit for edit in preview.edits if unfenced or selection.outside(edit, context.selection)]
    if turn.kind.fenced and beyond:
        raise ToolError(
            "denied",
            f"this turn may only change the selection, and the edit of {context.workspace.display(beyond[0].path)} "
            "changes text outside it",
            hint="use replace_selection",
        )
    decision = consent.decide(turn, item, preview)
    outside = consent.decide(turn, item, preview, outside_selection=True) if beyond else decision
    drafted = Draft(item, preview, own, decision, outside)
    if drafted.digest in turn.rejected:
        raise ToolError("denied", "the person rejected this edit already in this turn", hint="do without it")
    announce(turn, item, replace(preview, edits=own), CallStatus.PENDING)
    context.drafts.update({edit.path: edit for edit in preview.edits})
    return drafted


def on_top_of(before: ProposedEdit | None, edit: ProposedEdit) -> ProposedEdit:
    """What `edit` changes of what an earlier draft of the same file leaves."""
    if before is None:
        return edit
    fresh = ProposedEdit.between(replace(before.drafted, path=edit.path), edit.after)
    target = edit.target if edit.target != before.target else None
    return replace(fresh, removes=edit.removes and not before.removes, target=target)


async def decide(
    turn: Turn, drafts: Sequence[Draft], edits: tuple[ProposedEdit, ...], results: dict[str, ToolResult]
) -> None:
    """Have the proposal decided and applied part by part, and tell each call what became of all its changes."""
    left = parts(drafts, edits, turn.context.selection)
    before = await turn.gate.before(edits) if turn.gate and not all(part.shown for part in left) else None
    outcomes: list[HunkOutcome] = []
    found = None
    try:
        while left:
            outcomes += await review(turn, left[0])
            del left[0]
        if turn.gate and before and (applied := [made for edit in edits if (made := applied_of(edit, outcomes))]):
            turn.emit(Step("looking whether the edit brought new errors"))
            found = await turn.gate.after(before, applied)
    finally:  # also where a later part is cancelled or fails: what is written by then is remembered and told
        for edit in edits:
            remember(turn, edit, applied_of(edit, outcomes))
        if found is not None:
            turn.person.alarm(found.new, found.shown)
        tell_all(turn, drafts, edits, outcomes, left, found, results)


def tell_all(
    turn: Turn,
    drafts: Sequence[Draft],
    edits: Sequence[ProposedEdit],
    outcomes: Sequence[HunkOutcome],
    left: Sequence[Part],
    found: Found | None,
    results: dict[str, ToolResult],
) -> None:
    """The results of all calls; where parts are left that were not come to, of those that changed something by then.
    New errors are told with the last change: it is one message that the model gets."""
    undecided = [outcome for part in left for edit in part.edits for outcome in undecided_of(edit)]
    every = [*outcomes, *undecided]
    told = {
        index: [outcome for edit in edits for outcome in concerned(each, drafts[index + 1 :], edit, every)]
        for index, each in enumerate(drafts)
    }
    changed = [index for index, mine in told.items() if any(each.state is HunkState.APPLIED for each in mine)]
    for index, mine in told.items():
        if not left or index in changed:
            noted = errors_told(turn, found) if found and index == changed[-1] else ""
            tell(turn, drafts[index], mine, noted, results)


def errors_told(turn: Turn, found: Found) -> str:
    """Lines of a result; "" where there is nothing to tell."""
    context = turn.context
    errors = [error for error in found.new if not context.closed(error.path)]
    if not errors:
        return ""
    lines = [as_line(context, error) for error in sorted(errors, key=lambda each: (each.path, each.line))]
    more = [f"and {len(lines) - MOST_ERRORS} more"] if len(lines) > MOST_ERRORS else []
    count = f"{len(errors)} new error{'s' * (len(errors) > 1)}"
    return "\n".join([f"\n\nSince then the editor shows {count}:", *lines[:MOST_ERRORS], *more])


async def review(turn: Turn, part: Part) -> Sequence[HunkOutcome]:
    """Ask about one part where that is due, and have it applied."""
    request = permission_request(turn, part)
    ask = isinstance(part.decision, approval.Ask)
    status = CallStatus.WAITING if ask and not part.shown else CallStatus.IN_PROGRESS
    for each in part.drafts:
        turn.emit(CallChanged(each.item.call_id, status))
    if part.shown:
        reviewed = await turn.person.propose(request)
    else:
        async with turn.asking:
            turn.emit(Step(f"waiting for you: {request.title}" if ask else request.title))
            reviewed = await turn.person.review(request, ask=ask)
    if reviewed.grant is not None:
        turn.keep(reviewed.grant)
    for outcome in reviewed.outcomes:
        turn.outcomes.setdefault(outcome.path, []).append(outcome.state)
    return reviewed.outcomes


def permission_request(turn: Turn, part: Part) -> PermissionRequest:
    workspace = turn.context.workspace
    title = title_of(part.edits, workspace.display)
    operations = {edit.operation for edit in part.edits}
    kind = KINDS[operations.pop()] if len(operations) == 1 else ToolKind.EDIT
    preview = Preview(title, kind, max(each.preview.risk for each in part.drafts), edits=part.edits)
    digest = digest_of(preview)
    ids = (f"turn-{digest[:12]}", f"session-{digest[:12]}")
    why, grants = "", approval.grants_for(preview, workspace, ids)
    if isinstance(part.decision, approval.Ask):
        why, grants = part.decision.why, () if part.decision.once else grants
    call_ids = tuple(each.item.call_id for each in part.drafts)
    return PermissionRequest(
        call_ids, title, kind, preview.risk, why, digest, None, part.edits, grants, whole=part.whole
    )


def undecided_of(edit: ProposedEdit) -> list[HunkOutcome]:
    """What is said of a part that was not come to, beside those that were."""
    state = HunkState.FAILED
    outcomes = [HunkOutcome(edit.path, hunk, state, UNDECIDED, "remove" if edit.removes else "") for hunk in edit.hunks]
    if edit.operation == "move":
        outcomes.append(HunkOutcome(edit.path, MOVED, state, UNDECIDED, "move"))
    return outcomes


def tell(turn: Turn, each: Draft, mine: Sequence[HunkOutcome], noted: str, results: dict[str, ToolResult]) -> None:
    """The result of one call, from what became of the changes that hold its own; `noted` goes with what was changed."""
    display = turn.context.workspace.display
    states = {outcome.state for outcome in mine}
    told = {outcome.path for outcome in mine}
    own = [named for edit, named in zip(each.own, each.named, strict=True) if edit.path in told or not told]
    names = ", ".join(display(edit.path) for edit in own)
    reasons = "; ".join(dict.fromkeys(outcome.reason for outcome in mine if outcome.reason))
    asked = isinstance(each.decision, approval.Ask) or isinstance(each.beyond, approval.Ask)
    if HunkState.APPLIED in states and asked:
        turn.repetition.forgive(each.item.tool.name, each.item.call.arguments)
    if HunkState.APPLIED in states and len(states) > 1:
        turn.rejected |= {alone(each, outcome) for outcome in mine if outcome.state is HunkState.REJECTED}
        applied = sum(outcome.state is HunkState.APPLIED for outcome in mine)
        others = [outcome for outcome in mine if outcome.state is not HunkState.APPLIED]
        places = "; ".join(place_of(outcome, display) for outcome in others)
        content = f"Applied in part: {applied} of {len(mine)} changes to {names}. Not applied: {places}."
        content += f" Read the file again before you go on.{noted}"
        finish(turn, each.item.call, results, content, changed=True)
    elif states == {HunkState.APPLIED}:
        but = f" But {reasons}: read the file again." if reasons else ""
        finish(turn, each.item.call, results, f"{done(own, display)}{but}{noted}", changed=True)
    elif not states:
        content = f"Nothing is left of it to apply: another edit of this answer took back what it changed in {names}."
        finish(turn, each.item.call, results, content)
    elif HunkState.PENDING in states:
        content = f"Shown to the person as a proposal for {names}; nothing was written."
        finish(turn, each.item.call, results, content)
    elif states == {HunkState.REJECTED}:
        turn.rejected.add(each.digest)
        content = failure("denied", f"the person rejected it{': ' + reasons if reasons else ''}", NOT_AGAIN)
        finish(turn, each.item.call, results, content, CallStatus.REJECTED)
    else:
        code = "conflict" if HunkState.CONFLICT in states else "stale"
        content = failure(code, reasons or "the text changed meanwhile", "read the file again")
        finish(turn, each.item.call, results, content, CallStatus.FAILED)


def alone(each: Draft, outcome: HunkOutcome) -> str:
    """The digest of a call that makes this one change of `each` and no other: the person said no to it already."""
    own = next(edit for edit in each.own if edit.path == outcome.path)
    moves = outcome.operation == "move"
    hunks = () if moves else (outcome.hunk,)
    target = own.target if moves else None
    return digest_of_changes([replace(own, hunks=hunks, removes=outcome.operation == "remove", target=target)])


def applied_of(edit: ProposedEdit, outcomes: Sequence[HunkOutcome]) -> ProposedEdit | None:
    """What of the edit is in the file now; None: nothing."""
    made = [each for each in outcomes if each.state is HunkState.APPLIED and each.path == edit.path]
    operations = {each.operation for each in made}
    applied = replace(
        edit.only(each.hunk for each in made if each.operation != "move"),
        removes="remove" in operations,
        target=edit.target if "move" in operations else None,
    )
    return applied if changes(applied) else None


def remember(turn: Turn, edit: ProposedEdit, applied: ProposedEdit | None) -> None:
    """The model knows the file with the edit, but not what the person typed meanwhile; the selection follows."""
    if applied is None:
        return
    context = turn.context
    known, _ = rebase(applied, context.seen.pop(edit.path, edit.base))
    if applied.removes:
        return
    try:
        now = context.workspace.read(applied.drafted.path)
    except WorkspaceError:  # gone or unreadable again already: the model has to read it anew
        return
    context.seen[now.path] = known.drafted
    if context.selection is not None:
        context.selection = selection.follow(context.selection, applied, now)
