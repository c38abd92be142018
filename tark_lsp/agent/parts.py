"""Splits a proposal into parts. Each part is decided as a whole, by one question to the user or none. Pure.

Allowed changes do not wait for changes that need a question. Ordinary questions do not wait for questions that no grant
can cover. Changes outside the selection are a separate question.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tark_lsp.agent import selection
from tark_lsp.agent.approval import Allow, Ask
from tark_lsp.agent.results import ReadyCall
from tark_lsp.agent.user_interface import text_digest
from tark_lsp.tools.tool import Preview, Risk, Selection
from tark_lsp.workspace.edits import ProposedEdit


@dataclass(frozen=True, slots=True)
class Draft:
    """One edit call of the proposal. `own` are its changes on top of those of the earlier calls.

    `decision` applies to its changes inside the selection, and `beyond` to the others. Without a selection, the two are
    equal.
    """

    item: ReadyCall
    preview: Preview
    own: tuple[ProposedEdit, ...]
    decision: Allow | Ask
    beyond: Allow | Ask

    @property
    def named(self) -> tuple[ProposedEdit, ...]:
        """`own` with the paths that the call uses: a file that an earlier call moves has its new path."""
        pairs = zip(self.own, self.preview.edits, strict=True)
        return tuple(own if own.operation else replace(own, path=edit.place) for own, edit in pairs)

    @property
    def digest(self) -> str:
        return digest_of_changes(self.own)


@dataclass(frozen=True, slots=True)
class ProposalPart:
    """`drafts`: all calls that change these files, even if they are also in another part. `outside`: the part is
    outside the selection. `atomic`: either all or nothing is applied."""

    edits: tuple[ProposedEdit, ...]
    drafts: tuple[Draft, ...]
    decision: Allow | Ask
    outside: bool = False
    atomic: bool = False

    @property
    def shown(self) -> bool:
        """Whether the edits are only shown, and never applied by the turn."""
        return all(draft.preview.risk is Risk.READ_ONLY for draft in self.drafts)


def digest_of_changes(edits: Iterable[ProposedEdit]) -> str:
    """A digest of the old and new texts. It does not depend on the position of the lines in the file."""
    texts = []
    for edit in edits:
        if edit.operation:
            texts += [str(edit.path), edit.operation, str(edit.target)]
        texts += [text for hunk in edit.hunks for text in (str(edit.path), hunk.old_text, hunk.new_text)]
    return text_digest(texts)


def split_proposal(
    drafts: Sequence[Draft], edits: Sequence[ProposedEdit], selected: Selection | None
) -> list[ProposalPart]:
    """The parts in the order in which they are settled: allowed, asked, asked each time. Parts outside the selection
    come last."""
    found = []
    loose = list(edits)
    for some in atomic_groups(drafts, edits):
        loose = [edit for edit in loose if edit not in some]
        outside = any(selection.hunks_outside_selection(edit, selected) for edit in some)
        found.append(make_part(some, drafts, outside=outside, whole=True))
    pieces = [
        make_part([piece], drafts, outside=outside)
        for edit in loose
        for piece, outside in split_at_selection(edit, selected)
    ]
    for kind in dict.fromkeys(settling_order(piece) for piece in pieces):
        same = [edit for piece in pieces if settling_order(piece) == kind for edit in piece.edits]
        found.append(make_part(same, drafts, outside=kind[0]))
    return sorted(found, key=settling_order)


def settling_order(part: ProposalPart) -> tuple[bool, bool, bool]:
    """A sort key: outside the selection, asked each time, asked."""
    match part.decision:
        case Ask(once=once):
            return part.outside, once, True
        case Allow():
            return part.outside, False, False


def atomic_groups(drafts: Sequence[Draft], edits: Sequence[ProposedEdit]) -> list[list[ProposedEdit]]:
    """The groups of edits that are applied as a whole or not at all: those of an atomic call, with the edits of other
    calls in the same files."""
    groups: list[set[Path]] = []
    for draft in drafts:
        if draft.preview.atomic:
            paths = {edit.path for edit in draft.own}
            for other in [group for group in groups if group & paths]:
                groups.remove(other)
                paths |= other
            groups.append(paths)
    return [
        some for group in groups if (some := [edit for edit in edits if edit.path in group and changes_anything(edit)])
    ]


def split_at_selection(edit: ProposedEdit, selected: Selection | None) -> list[tuple[ProposedEdit, bool]]:
    """The edit in up to two pieces, each with whether it is outside the selection. A move or removal is not split."""
    beyond = selection.hunks_outside_selection(edit, selected)
    pieces = [(edit.only(set(edit.hunks) - set(beyond)), False), (edit.only(beyond), True)]
    if edit.operation:
        pieces = [(edit, bool(beyond))]
    return [(piece, outside) for piece, outside in pieces if changes_anything(piece)]


def make_part(
    edits: Sequence[ProposedEdit], drafts: Sequence[Draft], *, outside: bool, whole: bool = False
) -> ProposalPart:
    """The part for these edits. Its decision is that of the strictest call that changes these files."""
    paths = {edit.path for edit in edits}
    some = tuple(draft for draft in drafts if any(own.path in paths for own in draft.own))
    decision = strictest_decision(draft.beyond if outside else draft.decision for draft in some)
    return ProposalPart(tuple(edits), some, decision, outside, whole)


def changes_anything(edit: ProposedEdit) -> bool:
    """Whether the edit has an effect. It has none if the calls reverted each other's changes, or if one removed a file
    that another one would have created."""
    return edit.base.exists if edit.removes else bool(edit.hunks or edit.target)


def strictest_decision(decisions: Iterable[Allow | Ask]) -> Allow | Ask:
    made = [*decisions]
    asks = [decision for decision in made if isinstance(decision, Ask)]
    if not asks:
        return Allow("; ".join(dict.fromkeys(decision.by for decision in made if isinstance(decision, Allow))))
    once = any(ask.once for ask in asks)
    return Ask("; ".join(dict.fromkeys(ask.why for ask in asks if ask.once is once)), once)
