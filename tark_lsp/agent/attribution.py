"""Finds the calls of an answer to which the changes of its proposal belong. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from tark_lsp.agent import selection
from tark_lsp.agent.call_hunks import CallHunks, divide_by_call
from tark_lsp.agent.parts import Draft, ProposalPart, split_proposal
from tark_lsp.agent.user_interface import HunkOutcome
from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.edits import ProposedEdit


def divide_into_parts(
    drafts: Sequence[Draft], edits: Sequence[ProposedEdit], selected: Selection | None
) -> tuple[list[CallHunks], list[ProposalPart]]:
    """The edits of the whole proposal, with hunks that can be decided independently of each other, and its parts.

    `CallHunks.calls` are indices of `drafts`. A long text takes time, so call this in the placing thread.
    """
    divided = [divide_edit(drafts, edit, selected) for edit in edits]
    parts = split_proposal(drafts, [each.edit for each in divided], selected)
    for edit in (edit for part in parts for edit in part.edits):
        _ = edit.base.digest, edit.drafted.digest  # computed here, in the thread, and cached for the question
    return divided, parts


def divide_edit(drafts: Sequence[Draft], edit: ProposedEdit, selected: Selection | None) -> CallHunks:
    steps = [
        (number, step) for number, draft in enumerate(drafts) for step in draft.preview.edits if step.path == edit.path
    ]
    divided = divide_by_call(steps, selection.borders_in(edit, selected))
    if not selection.is_decided_together(divided.edit, selected):
        return divided
    everyone = frozenset[int]().union(*divided.calls)
    return replace(divided, edit=selection.joined(divided.edit), calls=(everyone,))


def outcomes_of_call(
    number: int, draft: Draft, divided: CallHunks, outcomes: Sequence[HunkOutcome]
) -> list[HunkOutcome]:
    """The outcomes of those changes to one file that belong to this call. A move belongs to the call that makes it."""
    path = divided.edit.path
    moves = any(own.operation == "move" for own in draft.own if own.path == path)
    calls = dict(zip(divided.edit.hunks, divided.calls, strict=True))

    def concerns(outcome: HunkOutcome) -> bool:
        return moves if outcome.operation == "move" else number in calls[outcome.hunk]

    return [outcome for outcome in outcomes if outcome.path == path and concerns(outcome)]
