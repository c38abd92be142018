"""Computes what one call changes on top of the earlier drafts of its answer. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tark_lsp.agent import selection
from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.edits import ProposedEdit


@dataclass(frozen=True, slots=True)
class ComparedEdits:
    """The `edits` of one call, and their changes on top of the earlier drafts (`own`). `beyond`: the edits that change
    text outside the selection."""

    edits: tuple[ProposedEdit, ...]
    own: tuple[ProposedEdit, ...]
    beyond: tuple[ProposedEdit, ...]
    nothing_new: bool


def compare_edits(
    edits: Sequence[ProposedEdit], drafts: Mapping[Path, ProposedEdit], selected: Selection | None
) -> ComparedEdits:
    """A long text takes time, so call this in the placing thread."""
    edits = tuple(selection.divide_at_selection(edit, selected) for edit in edits)
    return ComparedEdits(
        edits,
        tuple(on_top_of(drafts.get(edit.path), edit) for edit in edits),
        tuple(edit for edit in edits if selection.hunks_outside_selection(edit, selected)),
        all(leaves_as_is(drafts.get(edit.path), edit) for edit in edits),
    )


def leaves_as_is(before: ProposedEdit | None, edit: ProposedEdit) -> bool:
    """Whether the edit changes nothing that an earlier draft of the same file does not change."""
    if before is None:
        return not edit.hunks and not edit.operation
    return (edit.after, edit.removes, edit.target) == (before.after, before.removes, before.target)


def on_top_of(before: ProposedEdit | None, edit: ProposedEdit) -> ProposedEdit:
    """The changes of `edit` relative to the text that an earlier draft of the same file leaves."""
    if before is None:
        return edit
    fresh = ProposedEdit.between(replace(before.drafted, path=edit.path), edit.after)
    target = edit.target if edit.target != before.target else None
    return replace(fresh, removes=edit.removes and not before.removes, target=target)
