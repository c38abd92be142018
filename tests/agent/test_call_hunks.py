"""The changes of several calls, divided into hunks: one call each, unless two calls changed the same lines."""

from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.approval import Allow
from tark_lsp.agent.attribution import divide_edit, outcomes_of_call
from tark_lsp.agent.call_hunks import CallHunks, divide_by_call
from tark_lsp.agent.parts import Draft
from tark_lsp.agent.regions import carry_region, regions_after
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
BASE = "".join(f"line {number}\n" for number in range(12))


@dataclass(frozen=True)
class Change:
    """Lines [start, start + removed) of the text so far become `added` lines that carry the call's number."""

    start: int
    removed: int
    added: int


CHANGES = st.lists(
    st.builds(Change, st.integers(0, 14), st.integers(0, 3), st.integers(0, 3)).filter(
        lambda change: change.removed + change.added > 0
    ),
    min_size=1,
    max_size=5,
)


def texts_of(base: str, changes: list[Change]) -> list[str]:
    """The text after each call."""
    found: list[str] = []
    for number, change in enumerate(changes):
        lines = split_lines(found[-1] if found else base)
        start = min(change.start, len(lines))
        new = [f"call {number} line {index}\n" for index in range(change.added)]
        found.append("".join([*lines[:start], *new, *lines[start + change.removed :]]))
    return found


def divided(base: str, *texts: str) -> CallHunks:
    return divide_by_call(
        (number, ProposedEdit.between(Snapshot(HERE, base), text)) for number, text in enumerate(texts)
    )


@dataclass
class Line:
    text: str
    call: int | None = None
    """The call that wrote it."""
    shown: bool = True


@dataclass
class Model:
    """All lines that ever were, in one order; removed ones stay where they were. A simple model of what is divided."""

    lines: list[Line]
    groups: dict[int, set[int]] = field(default_factory=dict)
    """The calls that changed the same lines as a call, with itself."""
    blocks: list[tuple[int, list[Line]]] = field(default_factory=list)
    """What each call wrote and removed, in the order of `lines`."""

    def make(self, call: int, change: Change) -> None:
        shown = [line for line in self.lines if line.shown]
        start = min(change.start, len(shown))
        removed = shown[start : start + change.removed]
        new = [Line(f"call {call} line {index}\n", call) for index in range(change.added)]
        if removed:
            at = self._at(removed[0])
            last = self._at(removed[-1])
            covered = self.lines[at : last + 1]
        else:
            at = self._at(shown[start]) if start < len(shown) else len(self.lines)
            covered = []
        self.groups[call] = {call}
        for other, block in self._joined_blocks():
            places = [self._at(line) for line in block]
            standing = [self._at(line) for line in block if line.shown]
            inside = bool(standing) and min(standing) < at <= max(standing) and not removed
            around = bool(removed) and bool(places) and not standing and at < min(places) and max(places) < last
            if inside or around or any(line in covered and line.shown for line in block):
                self._unite(call, other)
        for line in removed:
            line.shown = False
        self.lines[at:at] = new
        self.blocks.append((call, [*new, *removed]))

    def _joined_blocks(self) -> list[tuple[int, list[Line]]]:
        """The lines of calls that changed the same ones are one block, named by one of the calls."""
        found: dict[int, list[Line]] = {}
        for call, block in self.blocks:
            found.setdefault(min(self.groups[call]), []).extend(block)
        return list(found.items())

    def _at(self, line: Line) -> int:
        return next(index for index, item in enumerate(self.lines) if item is line)

    def _unite(self, one: int, other: int) -> None:
        both = self.groups[one] | self.groups[other]
        for call in both:
            self.groups[call] = both


def follows(lines: list[str], order: list[str]) -> bool:
    """Are these lines in this order?"""
    rest = iter(order)
    return all(line in rest for line in lines)


@given(CHANGES)
def test_each_hunk_is_of_the_calls_that_changed_the_same_lines(changes: list[Change]) -> None:
    texts = texts_of(BASE, changes)
    model = Model([Line(line) for line in split_lines(BASE)])
    for number, change in enumerate(changes):
        model.make(number, change)
    found = divided(BASE, *texts)
    assert found.edit.after == texts[-1]
    for hunk, calls in zip(found.edit.hunks, found.calls, strict=True):
        written = {int(line.split()[1]) for line in hunk.new if line.startswith("call")}
        assert written <= calls
        assert any(calls == model.groups[call] for call in calls), "calls that changed the same lines, and no others"
    order = [line.text for line in model.lines]
    for size in (1, 2):
        for some in combinations(found.edit.hunks, size):
            assert follows(split_lines(found.edit.only(some).after), order), "each is right without the others"


@given(CHANGES)
def test_what_a_call_changed_alone_can_be_decided_alone(changes: list[Change]) -> None:
    """Without its hunks the text is as if the call had not been made."""
    found = divided(BASE, *texts_of(BASE, changes))
    for call in range(len(changes)):
        mine = [hunk for hunk, calls in zip(found.edit.hunks, found.calls, strict=True) if call in calls]
        rest = found.edit.only(hunk for hunk in found.edit.hunks if hunk not in mine).after
        assert f"call {call} " not in rest
        alone = [hunk for hunk, calls in zip(found.edit.hunks, found.calls, strict=True) if calls == {call}]
        lines = split_lines(found.edit.only(alone).after)
        assert not any(line.startswith("call ") and not line.startswith(f"call {call} ") for line in lines)


ALIKE = st.lists(st.sampled_from(["a\n", "b\n", "\n"]), max_size=8).map("".join)
ENDS = st.sampled_from(["", "", "end", "other end"])
TEXTS = st.tuples(ALIKE, ENDS).map("".join)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=4))
def test_among_equal_lines_all_subsets_are_texts(base: str, texts: list[str]) -> None:
    found = divided(base, *texts)
    assert found.edit.after == texts[-1]
    assert all(found.calls)
    assert len({*found.edit.hunks}) == len(found.edit.hunks), "two insertions of the same lines are two hunks"
    for hunk in found.edit.hunks:
        without = found.edit.only(item for item in found.edit.hunks if item != hunk)
        for part in (found.edit.only([hunk]), without):
            assert "".join(split_lines(part.after)) == part.after
            lines = split_lines(base)
            for item in reversed(part.hunks):
                lines[item.start : item.end] = item.new
            assert split_lines(part.after) == lines, "no line without an ending is followed by another one"


NINE = "".join(f"{number}\n" for number in range(1, 10))


def lines_of(*changes: tuple[int, str]) -> str:
    """`NINE` with other lines in the place of some."""
    lines = split_lines(NINE)
    for number, new in changes:
        lines[number - 1] = new
    return "".join(lines)


TABLE: dict[str, tuple[str, list[str], list[tuple[int, str, str, set[int]]]]] = {
    "the same line twice": (NINE, [lines_of((3, "x\n")), lines_of((3, "y\n"))], [(2, "3\n", "y\n", {0, 1})]),
    "neighbouring lines": (
        NINE,
        [lines_of((3, "x\n")), lines_of((3, "x\n"), (4, "y\n"))],
        [(2, "3\n", "x\n", {0}), (3, "4\n", "y\n", {1})],
    ),
    "neighbouring lines, the upper one later": (
        NINE,
        [lines_of((4, "y\n")), lines_of((3, "x\n"), (4, "y\n"))],
        [(2, "3\n", "x\n", {1}), (3, "4\n", "y\n", {0})],
    ),
    "one line between": (
        NINE,
        [lines_of((3, "x\n")), lines_of((3, "x\n"), (5, "y\n"))],
        [(2, "3\n", "x\n", {0}), (4, "5\n", "y\n", {1})],
    ),
    "two lines between": (
        NINE,
        [lines_of((3, "x\n")), lines_of((3, "x\n"), (6, "y\n"))],
        [(2, "3\n", "x\n", {0}), (5, "6\n", "y\n", {1})],
    ),
    "three lines between": (
        NINE,
        [lines_of((3, "x\n")), lines_of((3, "x\n"), (7, "y\n"))],
        [(2, "3\n", "x\n", {0}), (6, "7\n", "y\n", {1})],
    ),
    "one call, near": (NINE, [lines_of((3, "x\n"), (5, "y\n"))], [(2, "3\n4\n5\n", "x\n4\ny\n", {0})]),
    "one call on both sides of another": (
        NINE,
        [lines_of((3, "x\n"), (5, "y\n")), lines_of((3, "x\n"), (4, "z\n"), (5, "y\n"))],
        [(2, "3\n", "x\n", {0}), (3, "4\n", "z\n", {1}), (4, "5\n", "y\n", {0})],
    ),
    "lines put after another call's": (
        NINE,
        [lines_of((3, "x\n")), lines_of((3, "x\nnew\n"))],
        [(2, "3\n", "x\n", {0}), (3, "", "new\n", {1})],
    ),
    "lines put before another call's": (
        NINE,
        [lines_of((3, "x\n")), lines_of((3, "new\nx\n"))],
        [(2, "", "new\n", {1}), (2, "3\n", "x\n", {0})],
    ),
    "two insertions, the later below": (
        NINE,
        [lines_of((3, "3\nx\n")), lines_of((3, "3\nx\ny\n"))],
        [(3, "", "x\n", {0}), (3, "", "y\n", {1})],
    ),
    "two insertions, the later above": (
        NINE,
        [lines_of((3, "3\nx\n")), lines_of((3, "3\ny\nx\n"))],
        [(3, "", "y\n", {1}), (3, "", "x\n", {0})],
    ),
    "the same insertion twice": (
        NINE,
        [lines_of((3, "3\nx\n")), lines_of((3, "3\nx\nx\n"))],
        [(3, "", "x\n", {0}), (3, "", "x\n", {1})],
    ),
    "between the lines that another call put there": (
        NINE,
        [lines_of((3, "3\nx\ny\n")), lines_of((3, "3\nx\nnew\ny\n"))],
        [(3, "", "x\nnew\ny\n", {0, 1})],
    ),
    "a removal, and an insertion there": (
        NINE,
        [lines_of((3, "")), lines_of((3, ""), (4, "x\n4\n"))],
        [(2, "3\n", "", {0}), (3, "", "x\n", {1})],
    ),
    "an insertion, and a removal below": (
        NINE,
        [lines_of((3, "3\nx\n")), lines_of((3, "3\nx\n"), (4, ""))],
        [(3, "", "x\n", {0}), (3, "4\n", "", {1})],
    ),
    "two removals": (
        NINE,
        [lines_of((3, "")), lines_of((3, ""), (4, ""))],
        [(2, "3\n", "", {0}), (3, "4\n", "", {1})],
    ),
    "lines around a removed one": (
        NINE,
        [lines_of((3, "")), lines_of((2, "x\n"), (3, ""), (4, "y\n"))],
        [(1, "2\n3\n4\n", "x\ny\n", {0, 1})],
    ),
    "taken back": (NINE, [lines_of((3, "x\n")), NINE], []),
    "all of a kind": (
        "a\nx\na\nx\na\n",
        ["a\ny\na\ny\na\n", "b\ny\nb\ny\nb\n"],
        [
            *[(0, "a\n", "b\n", {1}), (1, "x\n", "y\n", {0}), (2, "a\n", "b\n", {1})],
            *[(3, "x\n", "y\n", {0}), (4, "a\n", "b\n", {1})],
        ],
    ),
    "first and last line": ("1\n2\n", ["x\n2\n", "x\ny\n"], [(0, "1\n", "x\n", {0}), (1, "2\n", "y\n", {1})]),
    "above the first line and below the last": (
        "1\n",
        ["0\n1\n", "0\n1\n2\n"],
        [(0, "", "0\n", {0}), (1, "", "2\n", {1})],
    ),
    "no newline at the end": ("1\n2", ["x\n2", "x\ny"], [(0, "1\n", "x\n", {0}), (1, "2", "y", {1})]),
    "two insertions after a last line without newline": (
        "1\n2",
        ["1\n2\n3", "1\n2\n3\n4"],
        [(1, "2", "2\n3\n4", {0, 1})],
    ),
    "the last line without newline removed, and another added": (
        "1\n2",
        ["1\n", "1\n3\n"],
        [(1, "2", "3\n", {0, 1})],
    ),
    "the last newline taken, and the line below removed": ("1\n2\n", ["1\n", "1"], [(0, "1\n2\n", "1", {0, 1})]),
    "CRLF": (
        "1\r\n2\r\n3\r\n",
        ["x\r\n2\r\n3\r\n", "x\r\ny\r\n3\r\n"],
        [(0, "1\r\n", "x\r\n", {0}), (1, "2\r\n", "y\r\n", {1})],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_table(name: str) -> None:
    base, texts, hunks = TABLE[name]
    found = divided(base, *texts)
    assert found.edit.after == texts[-1]
    assert [
        (hunk.start, hunk.old_text, hunk.new_text, {*calls})
        for hunk, calls in zip(found.edit.hunks, found.calls, strict=True)
    ] == hunks


def test_a_file_that_the_answer_creates_or_removes_is_one_change() -> None:
    new = Snapshot(HERE, "", exists=False)
    created = [ProposedEdit.between(new, text) for text in ("a\n", "a\nb\n")]
    found = divide_by_call(enumerate(created))
    assert [hunk.new for hunk in found.edit.hunks] == [("a\n", "b\n")]
    assert [*found.calls] == [frozenset({0, 1})]
    base = Snapshot(HERE, NINE)
    removed = divide_by_call(enumerate([ProposedEdit.between(base, "1\n"), ProposedEdit.removal(base)]))
    assert removed.edit == ProposedEdit.removal(base)
    assert [*removed.calls] == [frozenset({0, 1})]
    written = divide_by_call(enumerate([ProposedEdit.removal(base), ProposedEdit.between(base, lines_of((3, "x\n")))]))
    assert [*written.calls] == [frozenset({0, 1})]


def test_typed_between_two_calls() -> None:
    """What was typed since is of no call."""
    before, now = Snapshot(HERE, NINE), Snapshot(HERE, "typed\n" + NINE)
    steps = [
        ProposedEdit.between(before, lines_of((3, "x\n"))),
        ProposedEdit.between(now, "typed\n" + lines_of((3, "x\n"), (4, "y\n"))),
    ]
    found = divide_by_call(enumerate(steps))
    assert [(hunk.start, hunk.new) for hunk in found.edit.hunks] == [(3, ("x\n",)), (4, ("y\n",))]
    assert [*found.calls] == [frozenset({0}), frozenset({1})]


# What each call is told


def play(base: str, changes: list[Change]) -> tuple[list[Draft], CallHunks]:
    drafts = []
    before = Snapshot(HERE, base)
    for number, text in enumerate(texts_of(base, changes)):
        whole = ProposedEdit.between(Snapshot(HERE, base), text)
        own = ProposedEdit.between(before, text)
        item = ReadyCall(ToolCall(f"{number}", "edit_file", "{}"), f"{number}", TOOL, UpdatePlanArguments(entries=[]))
        preview = Preview("", ToolKind.EDIT, Risk.WRITE, edits=(whole,))
        drafts.append(Draft(item, preview, (own,), Allow(), Allow()))
        before = Snapshot(HERE, text)
    return drafts, divide_edit(drafts, drafts[-1].preview.edits[0], None)


def told(drafts: list[Draft], whole: CallHunks, number: int) -> list[Hunk]:
    outcomes = [HunkOutcome(HERE, hunk, HunkState.APPLIED) for hunk in whole.edit.hunks]
    return [outcome.hunk for outcome in outcomes_of_call(number, drafts[number], whole, outcomes)]


@given(CHANGES)
def test_each_hunk_that_holds_lines_of_a_call_is_told_to_that_call(changes: list[Change]) -> None:
    drafts, whole = play(BASE, changes)
    every = [told(drafts, whole, number) for number in range(len(drafts))]
    assert {hunk for mine in every for hunk in mine} == {*whole.edit.hunks}
    for number, mine in enumerate(every):
        written = {hunk for hunk in whole.edit.hunks if any(line.startswith(f"call {number} ") for line in hunk.new)}
        assert written <= {*mine}


def test_calls_that_change_neighbouring_lines_are_told_of_their_own_hunk_only() -> None:
    drafts, whole = play(BASE, [Change(3, 1, 1), Change(4, 1, 1), Change(2, 1, 1)])
    assert [[hunk.start for hunk in told(drafts, whole, number)] for number in range(3)] == [[3], [4], [2]]


def test_a_call_whose_changes_were_taken_back_is_told_of_none() -> None:
    drafts, whole = play("a\nb\nc\n", [Change(1, 0, 1), Change(1, 1, 0)])
    assert whole.edit.hunks == ()
    assert told(drafts, whole, 0) == []


# Regions


@given(CHANGES)
def test_regions_after_hold_the_new_lines(changes: list[Change]) -> None:
    _, whole = play(BASE, changes)
    after = split_lines(whole.edit.after)
    regions = regions_after(whole.edit.hunks)
    assert [tuple(after[start:end]) for start, end in regions] == [hunk.new for hunk in whole.edit.hunks]


@given(st.integers(0, 12), st.integers(0, 10), CHANGES)
def test_a_carried_region_holds_all_that_was_in_it(start: int, size: int, changes: list[Change]) -> None:
    """Lines of the region that are still there are still in it; lines put between them are, too."""
    end = min(start + size, 12)
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
