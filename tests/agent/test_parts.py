"""What of a proposal is decided together: the parts of it, in their order."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.approval import Allow, Ask
from tark_lsp.agent.parts import Draft, digest_of_changes, settling_order, split_proposal
from tark_lsp.agent.results import ReadyCall
from tark_lsp.messages import ToolCall
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import Preview, Risk, Selection, Tool, ToolKind
from tark_lsp.tools.update_plan import UpdatePlanArguments
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.snapshot import Snapshot

ROOT = Path("/project")
TEXT = "".join(f"{number}\n" for number in range(30))
SELECTED = Selection(Snapshot(ROOT / "a", TEXT), TEXT.index("\n10\n") + 1, TEXT.index("\n13\n") + 1)
TOOL: Tool[Any] = load_tools()["edit_file"]
ARGUMENTS = UpdatePlanArguments(entries=[])
ALLOW, ASK, ONCE = Allow(), Ask("it edits"), Ask("it is protected", once=True)
BEYOND = Ask("it is outside", once=True)


def lines(name: str, *numbers: int) -> ProposedEdit:
    """Changes these lines of a file."""
    after = "".join(f"n{number}x\n" if number in numbers else f"{number}\n" for number in range(30))
    return ProposedEdit.between(Snapshot(ROOT / name, TEXT), after)


def removal(name: str) -> ProposedEdit:
    return ProposedEdit.removal(Snapshot(ROOT / name, TEXT))


def move(name: str, target: str) -> ProposedEdit:
    return ProposedEdit(ROOT / name, Snapshot(ROOT / name, TEXT), (), target=ROOT / target)


def draft(decision: Allow | Ask, *edits: ProposedEdit, whole: bool = False, risk: Risk = Risk.WRITE) -> Draft:
    item = ReadyCall(ToolCall("1", "edit_file", "{}"), "1", TOOL, ARGUMENTS)
    preview = Preview("", ToolKind.EDIT, risk, edits=edits, atomic=whole)
    return Draft(item, preview, edits, decision, BEYOND if decision != ONCE else ONCE)


def shown(drafts: list[Draft], selected: Selection | None = None) -> list[str]:
    """Each part in a word: how it is asked, and the lines of the files it changes."""
    edits = list({edit.path: edit for draft in drafts for edit in draft.own}.values())
    words = []
    for part in split_proposal(drafts, edits, selected):
        asked = ("unasked", "asked", "once")[strictness(part.decision)]
        pieces = []
        for edit in part.edits:
            starts = ",".join(str(hunk.start) for hunk in edit.hunks)
            pieces.append(f"{edit.path.name}{'>' + edit.target.name if edit.target else ''}:{starts}")
        notes = [word for word, holds in (("outside", part.outside), ("whole", part.atomic)) if holds]
        words.append(" ".join([asked, *notes, *pieces]))
    return words


CASES: dict[str, tuple[list[Draft], list[str]]] = {
    "one": ([draft(ASK, lines("a", 11))], ["asked a:11"]),
    "all alike are one": ([draft(ASK, lines("a", 11)), draft(ASK, lines("b", 2))], ["asked a:11 b:2"]),
    "what needs no asking comes first": (
        [draft(ONCE, removal("c")), draft(ASK, lines("a", 11)), draft(ALLOW, lines("b", 2))],
        ["unasked b:2", "asked a:11", "once c:0"],
    ),
    "the strictest call decides on a file": (
        [draft(ALLOW, lines("a", 11)), draft(ONCE, lines("a", 11, 20))],
        ["once a:11,20"],
    ),
    "all or nothing is a part of its own": (
        [draft(ALLOW, lines("a", 11), lines("b", 2), whole=True), draft(ALLOW, lines("c", 3))],
        ["unasked whole a:11 b:2", "unasked c:3"],
    ),
    "all or nothing is asked as a whole": (
        [draft(ONCE, lines("a", 11), removal("b"), whole=True), draft(ASK, lines("c", 3))],
        ["asked c:3", "once whole a:11 b:0"],
    ),
    "what shares a file with it is bound to it": (
        [
            draft(ALLOW, lines("a", 11), lines("b", 2), whole=True),
            draft(ALLOW, lines("d", 2), whole=True),
            draft(ASK, lines("b", 2, 20)),
            draft(ALLOW, lines("b", 2, 20), lines("c", 3), whole=True),
        ],
        ["unasked whole d:2", "asked whole a:11 b:2,20 c:3"],
    ),
    "nothing is left": ([draft(ASK, lines("a"))], []),
    "a file that was only made and removed again": (
        [draft(ONCE, ProposedEdit(ROOT / "a", Snapshot(ROOT / "a", "", exists=False), (), removes=True))],
        [],
    ),
    "a move without other changes": ([draft(ASK, move("a", "b"))], ["asked a>b:"]),
}


@pytest.mark.parametrize("name", CASES)
def test_parts(name: str) -> None:
    drafts, expected = CASES[name]
    assert shown(drafts) == expected


SELECTION_CASES: dict[str, tuple[list[Draft], list[str]]] = {
    "inside": ([draft(ALLOW, lines("a", 11))], ["unasked a:11"]),
    "both": ([draft(ALLOW, lines("a", 11, 20))], ["unasked a:11", "once outside a:20"]),
    "outside comes last": (
        [draft(ALLOW, lines("b", 2)), draft(ONCE, lines("a", 11))],
        ["once a:11", "once outside b:2"],
    ),
    "two files outside are one question": (
        [draft(ALLOW, lines("b", 2)), draft(ASK, lines("c", 3)), draft(ASK, lines("a", 11))],
        ["asked a:11", "once outside b:2 c:3"],
    ),
    "removing its own file": ([draft(ONCE, removal("a"))], ["once outside a:0"]),
    "moving its own file": ([draft(ALLOW, move("a", "b"))], ["once outside a>b:"]),
    "all or nothing is not split": (
        [draft(ALLOW, lines("a", 11, 20), whole=True)],
        ["once outside whole a:11,20"],
    ),
    "all or nothing inside": ([draft(ALLOW, lines("a", 11), whole=True)], ["unasked whole a:11"]),
}


@pytest.mark.parametrize("name", SELECTION_CASES)
def test_parts_of_a_turn_with_a_selection(name: str) -> None:
    drafts, expected = SELECTION_CASES[name]
    assert shown(drafts, SELECTED) == expected


def test_what_is_only_shown() -> None:
    only_shown = draft(ALLOW, lines("a", 1), risk=Risk.READ_ONLY)
    (part,) = split_proposal([only_shown], only_shown.own, None)
    assert part.shown
    applied = draft(ASK, lines("a", 1, 5))
    (part,) = split_proposal([only_shown, applied], applied.own, None)
    assert not part.shown


NAMES = st.sampled_from(["a", "b", "c", "d"])
EDITS = st.one_of(
    st.builds(lambda name, numbers: lines(name, *numbers), NAMES, st.sets(st.integers(0, 29), max_size=4)),
    st.builds(removal, NAMES),
    st.builds(lambda name: move(name, f"{name}-moved"), NAMES),
)
DRAFTS = st.lists(
    st.builds(
        lambda decision, edits, whole: draft(decision, *{edit.path: edit for edit in edits}.values(), whole=whole),
        st.sampled_from([ALLOW, ASK, ONCE]),
        st.lists(EDITS, min_size=1, max_size=3),
        st.booleans(),
    ),
    min_size=1,
    max_size=5,
)


@given(DRAFTS, st.sampled_from([None, SELECTED]))
def test_every_change_is_in_one_part_and_asked_as_strictly_as_any_of_its_calls_needs(
    drafts: list[Draft], selected: Selection | None
) -> None:
    edits = {edit.path: edit for draft in drafts for edit in draft.own}
    found = split_proposal(drafts, list(edits.values()), selected)
    pieces = [(piece.path, hunk) for part in found for piece in part.edits for hunk in piece.hunks]
    assert sorted(pieces, key=str) == sorted(
        ((path, hunk) for path, edit in edits.items() for hunk in edit.hunks), key=str
    )
    for part in found:
        for piece in part.edits:
            assert (piece.operation, piece.target) == (edits[piece.path].operation, edits[piece.path].target)
            for item in drafts:
                if any(own.path == piece.path for own in item.own):
                    assert item in part.drafts
                    wanted = item.beyond if part.outside else item.decision
                    assert strictness(part.decision) >= strictness(wanted)
    assert [settling_order(part) for part in found] == sorted(settling_order(part) for part in found)


def strictness(decision: Allow | Ask) -> int:
    return 0 if isinstance(decision, Allow) else 1 + decision.once


def test_a_digest_of_changes_tells_operations_apart() -> None:
    edits = [lines("a", 1), lines("a", 2), lines("b", 1), removal("a"), move("a", "b"), move("a", "c"), lines("a")]
    assert len({digest_of_changes([edit]) for edit in edits}) == len(edits)
