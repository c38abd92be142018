"""What of a proposal is decided together: parts by what has to be asked of the person. Pure.

What may be done unasked is not held up by what has to be asked, nor an ordinary question by one that no grant may
cover; text outside the selection is a question of its own. A part is one question, or none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tark_lsp.agent import selection
from tark_lsp.agent.approval import Allow, Ask
from tark_lsp.agent.person import digest_of_texts
from tark_lsp.agent.results import Ready
from tark_lsp.tools.tool import Preview, Risk, Selection
from tark_lsp.workspace.edits import ProposedEdit


@dataclass(frozen=True, slots=True)
class Draft:
    """One edit call of the proposal. `own` are its changes on top of those of the calls before it.

    `decision` is about what it changes inside the selection, `beyond` about the rest; without one they are the same.
    """

    item: Ready
    preview: Preview
    own: tuple[ProposedEdit, ...]
    decision: Allow | Ask
    beyond: Allow | Ask

    @property
    def named(self) -> tuple[ProposedEdit, ...]:
        """`own`, by the names the call has for the files: one that an earlier call moves has its new name."""
        pairs = zip(self.own, self.preview.edits, strict=True)
        return tuple(own if own.operation else replace(own, path=edit.drafted.path) for own, edit in pairs)

    @property
    def digest(self) -> str:
        return digest_of_changes(self.own)


@dataclass(frozen=True, slots=True)
class Part:
    """`drafts`: the calls that change these files, be it in another part. `outside`: of the selection.
    `whole`: all or nothing."""

    edits: tuple[ProposedEdit, ...]
    drafts: tuple[Draft, ...]
    decision: Allow | Ask
    outside: bool = False
    whole: bool = False

    @property
    def shown(self) -> bool:
        """Nothing is applied, whatever the person says."""
        return all(each.preview.risk is Risk.READ_ONLY for each in self.drafts)


def digest_of_changes(edits: Iterable[ProposedEdit]) -> str:
    """The same for the same lines in place of the same others, wherever they stand in the file."""
    texts = []
    for edit in edits:
        if edit.operation:
            texts += [str(edit.path), edit.operation, str(edit.target)]
        texts += [text for hunk in edit.hunks for text in (str(edit.path), hunk.old_text, hunk.new_text)]
    return digest_of_texts(texts)


def parts(drafts: Sequence[Draft], edits: Sequence[ProposedEdit], selected: Selection | None) -> list[Part]:
    """In the order they are settled: unasked, asked, asked once; and what is outside the selection after the rest."""
    found = []
    loose = list(edits)
    for some in bound(drafts, edits):
        loose = [edit for edit in loose if edit not in some]
        outside = any(selection.outside(edit, selected) for edit in some)
        found.append(part_of(some, drafts, outside=outside, whole=True))
    pieces = [part_of([piece], drafts, outside=outside) for edit in loose for piece, outside in cut(edit, selected)]
    for kind in dict.fromkeys(order(piece) for piece in pieces):
        same = [edit for piece in pieces if order(piece) == kind for edit in piece.edits]
        found.append(part_of(same, drafts, outside=kind[0]))
    return sorted(found, key=order)


def order(part: Part) -> tuple[bool, bool, bool]:
    """Outside, asked once, asked."""
    match part.decision:
        case Ask(once=once):
            return part.outside, once, True
        case Allow():
            return part.outside, False, False


def bound(drafts: Sequence[Draft], edits: Sequence[ProposedEdit]) -> list[list[ProposedEdit]]:
    """The edits that are done all or not at all: those of one such call, with all that other calls change there."""
    groups: list[set[Path]] = []
    for draft in drafts:
        if draft.preview.whole:
            paths = {edit.path for edit in draft.own}
            for other in [group for group in groups if group & paths]:
                groups.remove(other)
                paths |= other
            groups.append(paths)
    return [some for group in groups if (some := [edit for edit in edits if edit.path in group and changes(edit)])]


def cut(edit: ProposedEdit, selected: Selection | None) -> list[tuple[ProposedEdit, bool]]:
    """What it changes inside the selection and, True, outside. A file that is moved or removed is one thing."""
    beyond = selection.outside(edit, selected)
    pieces = [(edit.only(set(edit.hunks) - set(beyond)), False), (edit.only(beyond), True)]
    if edit.operation:
        pieces = [(edit, bool(beyond))]
    return [(piece, outside) for piece, outside in pieces if changes(piece)]


def part_of(edits: Sequence[ProposedEdit], drafts: Sequence[Draft], *, outside: bool, whole: bool = False) -> Part:
    """Decided by all calls that change these files, which may be stricter than the very lines would need."""
    paths = {edit.path for edit in edits}
    some = tuple(draft for draft in drafts if any(own.path in paths for own in draft.own))
    decision = strictest(draft.beyond if outside else draft.decision for draft in some)
    return Part(tuple(edits), some, decision, outside, whole)


def changes(edit: ProposedEdit) -> bool:
    """Not so: calls that took each other's changes back, or removed what another would have made."""
    return edit.base.exists if edit.removes else bool(edit.hunks or edit.target)


def strictest(decisions: Iterable[Allow | Ask]) -> Allow | Ask:
    asks = [each for each in decisions if isinstance(each, Ask)]
    if not asks:
        return Allow()
    once = any(ask.once for ask in asks)
    return Ask("; ".join(dict.fromkeys(ask.why for ask in asks if ask.once is once)), once)
