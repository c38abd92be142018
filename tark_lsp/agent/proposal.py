"""The edits of one answer as one proposal: previewed on top of each other, asked once, applied, told per call."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tark_lsp.agent import approval, consent, selection
from tark_lsp.agent.events import CallChanged, CallStatus, Step
from tark_lsp.agent.person import HunkOutcome, HunkState, PermissionRequest, digest_of, digest_of_texts
from tark_lsp.agent.results import Ready, announce, failure, failures_told, finish
from tark_lsp.agent.state import Turn
from tark_lsp.errors import ToolError, WorkspaceError
from tark_lsp.messages import ToolResult
from tark_lsp.tools.tool import Preview, Risk, ToolKind
from tark_lsp.workspace.edits import Hunk, ProposedEdit, rebase


@dataclass(frozen=True, slots=True)
class Draft:
    """One edit call of the proposal. `own` are its changes on top of those of the calls before it."""

    item: Ready
    preview: Preview
    own: tuple[ProposedEdit, ...]
    decision: approval.Allow | approval.Ask

    @property
    def digest(self) -> str:
        return digest_of_texts(
            [
                text
                for edit in self.own
                for hunk in edit.hunks
                for text in (str(edit.path), hunk.old_text, hunk.new_text)
            ]
        )


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
    own = tuple(
        ProposedEdit.between(context.drafts[edit.path].drafted, edit.after) if edit.path in context.drafts else edit
        for edit in preview.edits
    )
    unfenced = turn.kind.fenced and context.selection is None
    beyond = [edit for edit in preview.edits if unfenced or selection.outside(edit, context.selection)]
    if turn.kind.fenced and beyond:
        raise ToolError(
            "denied",
            f"this turn may only change the selection, and the edit of {context.workspace.display(beyond[0].path)} "
            "changes text outside it",
            hint="use replace_selection",
        )
    decision = consent.decide(turn, item, preview, outside_selection=bool(beyond))
    drafted = Draft(item, preview, own, decision)
    if drafted.digest in turn.rejected:
        raise ToolError("denied", "the person rejected this edit already in this turn", hint="do without it")
    announce(turn, item, preview, CallStatus.PENDING)
    context.drafts.update({edit.path: edit for edit in preview.edits})
    return drafted


async def decide(
    turn: Turn, drafts: Sequence[Draft], edits: tuple[ProposedEdit, ...], results: dict[str, ToolResult]
) -> None:
    """Ask about the proposal where that is due, have it applied, and tell each call what became of its changes."""
    request, ask = permission_request(turn, drafts, edits)
    only_shown = all(each.preview.risk is Risk.READ_ONLY for each in drafts)
    status = CallStatus.WAITING if ask and not only_shown else CallStatus.IN_PROGRESS
    for each in drafts:
        turn.emit(CallChanged(each.item.call_id, status))
    if only_shown:
        reviewed = await turn.person.propose(request)
    else:
        async with turn.asking:
            turn.emit(Step(f"waiting for you: {request.title}" if ask else request.title))
            reviewed = await turn.person.review(request, ask=ask)
    if reviewed.grant is not None:
        turn.keep(reviewed.grant)
    for outcome in reviewed.outcomes:
        turn.outcomes.setdefault(outcome.path, []).append(outcome.state)
    for index, each in enumerate(drafts):
        tell(turn, each, drafts[index + 1 :], edits, reviewed.outcomes, results)
    for edit in edits:
        remember(turn, edit, reviewed.outcomes)


def permission_request(
    turn: Turn, drafts: Sequence[Draft], edits: tuple[ProposedEdit, ...]
) -> tuple[PermissionRequest, bool]:
    workspace = turn.context.workspace
    asked = [each.decision for each in drafts if isinstance(each.decision, approval.Ask)]
    names = [workspace.display(edit.path) for edit in edits]
    title = f"edit {names[0]}" if len(names) == 1 else f"edit {len(names)} files: {', '.join(names)}"
    whole = Preview(title, ToolKind.EDIT, max(each.preview.risk for each in drafts), edits=edits)
    digest = digest_of(whole)
    ids = (f"turn-{digest[:12]}", f"session-{digest[:12]}")
    grants = () if any(ask.once for ask in asked) else approval.grants_for(whole, workspace, ids)
    why = asked[0].why if asked else ""
    call_ids = tuple(each.item.call_id for each in drafts)
    request = PermissionRequest(call_ids, title, ToolKind.EDIT, whole.risk, why, digest, None, edits, grants)
    return request, bool(asked)


def tell(
    turn: Turn,
    each: Draft,
    later: Sequence[Draft],
    edits: Sequence[ProposedEdit],
    outcomes: Sequence[HunkOutcome],
    results: dict[str, ToolResult],
) -> None:
    """The result of one call, from what became of the hunks that carry its changes."""
    mine = [outcome for edit in edits for outcome in concerned(each, later, edit, outcomes)]
    states = {outcome.state for outcome in mine}
    names = ", ".join(turn.context.workspace.display(edit.path) for edit in each.own)
    reasons = "; ".join(dict.fromkeys(outcome.reason for outcome in mine if outcome.reason))
    if HunkState.APPLIED in states and isinstance(each.decision, approval.Ask):
        turn.repetition.forgive(each.item.tool.name, each.item.call.arguments)
    if HunkState.APPLIED in states and len(states) > 1:
        applied = sum(outcome.state is HunkState.APPLIED for outcome in mine)
        content = f"Applied in part: {applied} of {len(mine)} changes to {names}. Not applied: {reasons or 'rejected'}."
        content += " Read the file again before you go on."
        finish(turn, each.item.call, results, content, changed=True)
    elif states == {HunkState.APPLIED}:
        noted = f" But {reasons}: read the file again." if reasons else ""
        finish(turn, each.item.call, results, f"Applied to {names}.{noted}", changed=True)
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


NOT_AGAIN = "do not make the same edit again; ask what is wanted, or do without it"


def concerned(
    each: Draft, later: Iterable[Draft], edit: ProposedEdit, outcomes: Sequence[HunkOutcome]
) -> list[HunkOutcome]:
    """The outcomes of the proposal's hunks of one file that hold changes of this call.

    Each call's changes are carried forward through the calls after it, to line numbers in the text of the whole
    proposal, and compared with where the proposal's hunks stand there.
    """
    regions = [region for own in each.own if own.path == edit.path for region in regions_after(own.hunks)]
    for following in later:
        for own in following.own:
            if own.path == edit.path:
                regions = [carried(region, own.hunks) for region in regions]
    places = dict(zip(edit.hunks, regions_after(edit.hunks), strict=True))
    return [
        outcome
        for outcome in outcomes
        if outcome.path == edit.path and any(touch(places[outcome.hunk], region) for region in regions)
    ]


def regions_after(hunks: Sequence[Hunk]) -> list[tuple[int, int]]:
    """Where each hunk's new lines stand once all of them are applied: [start, end)."""
    regions, grown = [], 0
    for hunk in hunks:
        start = hunk.start + grown
        regions.append((start, start + len(hunk.new)))
        grown += len(hunk.new) - len(hunk.old)
    return regions


def carried(region: tuple[int, int], hunks: Sequence[Hunk]) -> tuple[int, int]:
    """Where the region is after `hunks`, of the text it is in; what overlaps it is taken in."""
    start, end = region
    before = inside = 0
    for hunk in hunks:
        grown = len(hunk.new) - len(hunk.old)
        if hunk.end <= region[0]:
            before += grown
        elif hunk.start < region[1]:
            start, end = min(start, hunk.start), max(end, hunk.end)
            inside += grown
    return start + before, end + before + inside


def touch(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Ranges that share a line or, where one is empty (a deletion), a border."""
    return one[0] <= other[1] and other[0] <= one[1]


def remember(turn: Turn, edit: ProposedEdit, outcomes: Sequence[HunkOutcome]) -> None:
    """The model knows the file with the edit, but not what the person typed meanwhile; the selection follows."""
    applied = edit.only(
        outcome.hunk for outcome in outcomes if outcome.state is HunkState.APPLIED and outcome.path == edit.path
    )
    if not applied.hunks:
        return
    context = turn.context
    try:
        now = context.workspace.read(edit.path)
    except WorkspaceError:  # gone or unreadable again already: the model has to read it anew
        context.seen.pop(edit.path, None)
        return
    known, _ = rebase(applied, context.seen.get(edit.path, edit.base))
    context.seen[edit.path] = known.drafted
    if context.selection is not None:
        context.selection = selection.follow(context.selection, applied, now)
