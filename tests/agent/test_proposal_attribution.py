"""Which call of an answer a hunk of the whole proposal belongs to: concerned, carried, regions_after."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.approval import Allow
from tark_lsp.agent.attribution import outcomes_of_call
from tark_lsp.agent.parts import Draft
from tark_lsp.agent.regions import carry_region, regions_after, regions_touch
from tark_lsp.agent.results import ReadyCall
from tark_lsp.agent.user_interface import HunkOutcome, HunkState
from tark_lsp.messages import ToolCall
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import Preview, Risk, Tool, ToolKind
from tark_lsp.tools.update_plan import UpdatePlanArguments
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.snapshot import Snapshot

HERE = Path("/project/a.py")
TOOL: Tool[Any] = load_tools()["edit_file"]


@dataclass(frozen=True)
class Change:
    """Lines [start, start + removed) of the text so far become `added` lines that carry the call's number."""

    start: int
    removed: int
    added: int


CHANGES = st.lists(st.builds(Change, st.integers(0, 40), st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=5)


def play(base: str, changes: list[Change]) -> tuple[list[Draft], ProposedEdit]:
    """The calls of one answer, each made on top of those before, and the proposal they make together."""
    drafts = []
    text = base
    for number, change in enumerate(changes):
        lines = split_lines(text)
        start = min(change.start, len(lines))
        new = [f"call {number} line {index}\n" for index in range(change.added)]
        after = "".join([*lines[:start], *new, *lines[start + change.removed :]])
        own = ProposedEdit.between(Snapshot(HERE, text), after)
        item = ReadyCall(ToolCall(f"{number}", "edit_file", "{}"), f"{number}", TOOL, UpdatePlanArguments(entries=[]))
        drafts.append(Draft(item, Preview("", ToolKind.EDIT, Risk.WRITE), (own,), Allow(), Allow()))
        text = after
    return drafts, ProposedEdit.between(Snapshot(HERE, base), text)


def outcomes_of(edit: ProposedEdit) -> list[HunkOutcome]:
    return [HunkOutcome(edit.path, hunk, HunkState.APPLIED) for hunk in edit.hunks]


BASE = "".join(f"line {number}\n" for number in range(40))


@given(CHANGES)
def test_each_hunk_that_holds_lines_of_a_call_is_told_to_that_call(changes: list[Change]) -> None:
    drafts, whole = play(BASE, changes)
    for number, draft in enumerate(drafts):
        mine = {outcome.hunk for outcome in outcomes_of_call(draft, drafts[number + 1 :], whole, outcomes_of(whole))}
        written = {hunk for hunk in whole.hunks if any(line.startswith(f"call {number} ") for line in hunk.new)}
        removed = set(draft.own[0].base.text.splitlines()) - set(draft.own[0].after.splitlines())
        gone = {hunk for hunk in whole.hunks if removed & {line.rstrip("\n") for line in hunk.old}}
        assert written | gone <= mine


@given(CHANGES)
def test_each_hunk_is_told_to_some_call(changes: list[Change]) -> None:
    drafts, whole = play(BASE, changes)
    told = {
        outcome.hunk
        for number, draft in enumerate(drafts)
        for outcome in outcomes_of_call(draft, drafts[number + 1 :], whole, outcomes_of(whole))
    }
    assert told == set(whole.hunks)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=4, unique=True))
def test_calls_far_apart_are_told_of_their_own_hunk_only(places: list[int]) -> None:
    base = "".join(f"line {number}\n" for number in range(100))
    drafts, whole = play(base, [Change(10 * place, 1, 1) for place in places])
    assert len(whole.hunks) == len(places)
    for number, draft in enumerate(drafts):
        (mine,) = outcomes_of_call(draft, drafts[number + 1 :], whole, outcomes_of(whole))
        assert mine.hunk.start == 10 * places[number]


def test_a_call_whose_changes_were_taken_back_is_told_of_none() -> None:
    drafts, whole = play("a\nb\nc\n", [Change(1, 0, 1), Change(1, 1, 0)])
    assert whole.hunks == ()
    assert outcomes_of_call(drafts[0], drafts[1:], whole, []) == []


@given(CHANGES)
def test_regions_after_hold_the_new_lines(changes: list[Change]) -> None:
    _, whole = play(BASE, changes)
    after = split_lines(whole.after)
    regions = regions_after(whole.hunks)
    assert [tuple(after[start:end]) for start, end in regions] == [hunk.new for hunk in whole.hunks]


@given(st.integers(0, 40), st.integers(0, 10), CHANGES)
def test_a_carried_region_holds_all_that_was_in_it(start: int, size: int, changes: list[Change]) -> None:
    """Lines of the region that are still there are still in it; lines put between them are, too."""
    end = min(start + size, 40)
    start = min(start, end)
    drafts, _ = play(BASE, changes[:1])
    own = drafts[0].own[0]
    first, last = carry_region((start, end), own.hunks)
    after = split_lines(own.after)
    assert 0 <= first <= last <= len(after)
    wanted = split_lines(BASE)[start:end]
    assert [line for line in wanted if line in after] == [line for line in after[first:last] if line in wanted]
    outside = [*after[:first], *after[last:]]
    assert not set(outside) & set(wanted)


def test_a_region_that_several_later_hunks_overlap_reaches_to_the_end_of_the_last() -> None:
    hunks = (Hunk(1, ("b",), ("1", "2", "3", "4", "5")), Hunk(8, ("i", "j", "k", "l"), ("6", "7", "8", "9")))
    assert carry_region((0, 10), hunks) == (0, 16)


def test_touch() -> None:
    assert regions_touch((1, 3), (2, 5))
    assert regions_touch((1, 3), (3, 5))
    assert regions_touch((2, 2), (2, 2))
    assert not regions_touch((1, 2), (3, 5))
