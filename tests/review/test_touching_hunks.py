"""Hunks that touch: neighbouring lines, several insertions at one place. Each is decided alone, in any order.

The model is the base text with the hunks that are applied, in the order of the proposal.
"""

import asyncio
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tests.exhaustive import examples
from tests.review.live_hunk import LiveHunk
from tests.review.review_desk import Desk

pytestmark = pytest.mark.virtual_clock


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def hunks_of(text: str, sizes: Iterable[tuple[int, int, int]], ending: str = "\n") -> tuple[Hunk, ...]:
    """Hunks from top to bottom: how many lines to the one before, how many lines each replaces, and by how many."""
    lines = split_lines(text)
    hunks: list[Hunk] = []
    at = 0
    for number, (gap, removed, added) in enumerate(sizes):
        start = min(at + gap, len(lines))
        old = tuple(lines[start : start + removed])
        if not old and not added:
            continue
        last = hunks[-1] if hunks else None
        order = last.order + 1 if last and last.start == start else 0
        hunks.append(Hunk(start, old, tuple(f"new {number}.{index}{ending}" for index in range(added)), order))
        at = start + len(old)
    return tuple(hunks)


def text_with(text: str, hunks: Sequence[Hunk], applied: Iterable[int]) -> str:
    lines = split_lines(text)
    for number in sorted(applied, reverse=True):
        hunk = hunks[number]
        lines[hunk.start : hunk.end] = hunk.new
    return "".join(lines)


def propose(desk: Desk, path: Path, hunks: tuple[Hunk, ...], turn: str = "turn") -> list[LiveHunk]:
    return desk.add_proposal(turn, [(ProposedEdit(path, desk.editor.workspace.read(path), hunks), ())])


SIZES = st.lists(
    st.tuples(st.sampled_from([0, 0, 0, 1, 2, 3]), st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=6
)
TEXT = "".join(f"line {number}\n" for number in range(8))


async def decide_in_any_order(data: st.DataObject, folder: Path) -> None:
    desk = Desk(folder)
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = TEXT.replace("\n", ending)
    hunks = hunks_of(text, data.draw(SIZES), ending)
    path = desk.editor.open("f.py", text)
    if data.draw(st.booleans()):
        desk.editor.close(path)
    live = propose(desk, path, hunks)
    decided: set[int] = set()
    applied: set[int] = set()
    for _ in range(data.draw(st.integers(1, 8))):
        left = [number for number in range(len(hunks)) if number not in decided]
        if not left:
            break
        some = data.draw(st.lists(st.sampled_from(left), min_size=1, max_size=3, unique=True))
        ids = [live[number] for number in some]
        match data.draw(st.sampled_from(["accept", "apply", "reject"])):
            case "accept":
                await desk.reviews.accept(ids)
                applied |= {*some}
                decided |= {*some}
            case "apply":
                await desk.reviews.accept(ids, decide=False)
                applied |= {*some}
            case "reject":
                await desk.reviews.reject(ids)
                applied -= {*some}
                decided |= {*some}
        assert desk.editor.workspace.read(path).text == text_with(text, hunks, applied)
        for number, hunk in enumerate(live):
            assert hunk.applied is (number in applied)
            if number in decided:
                assert hunk.state == ("accepted" if number in applied else "rejected")
            else:
                assert hunk.pending
                assert desk.standing(path, hunk)


@settings(max_examples=examples(100))
@given(st.data())
def test_each_is_decided_alone_in_any_order(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(decide_in_any_order(data, Path(folder).resolve()))


def change_to(desk: Desk, path: Path, text: str) -> None:
    """One change of the editor, of whole lines: as its undo makes it."""
    now, new = split_lines(desk.editor.text(path)), split_lines(text)
    head = next((at for at, (one, other) in enumerate(zip(now, new, strict=False)) if one != other), None)
    head = min(len(now), len(new)) if head is None else head
    tail = 0
    while tail < min(len(now), len(new)) - head and now[-1 - tail] == new[-1 - tail]:
        tail += 1
    start = len("".join(now[:head]))
    desk.editor.type(path, (start, len("".join(now[: len(now) - tail])), "".join(new[head : len(new) - tail])))


async def undo_in_the_editor(data: st.DataObject, folder: Path) -> None:
    """The editor takes back each accept as one step, and makes it again."""
    desk = Desk(folder)
    hunks = hunks_of(TEXT, data.draw(SIZES))
    path = desk.editor.open("f.py", TEXT)
    live = propose(desk, path, hunks)
    applied: set[int] = set()
    for _ in range(data.draw(st.integers(1, 4))):
        left = [number for number, hunk in enumerate(live) if hunk.pending and number not in applied]
        if not left:
            break
        some = data.draw(st.lists(st.sampled_from(left), min_size=1, max_size=3, unique=True))
        before = desk.editor.text(path)
        await desk.reviews.accept([live[number] for number in some], decide=False)
        after = desk.editor.text(path)
        assert after == text_with(TEXT, hunks, applied | {*some})
        if data.draw(st.booleans()):
            change_to(desk, path, before)
            assert all(live[number].state == "rejected" for number in some), "undone"
            if data.draw(st.booleans()):
                change_to(desk, path, after)
                assert all(live[number].pending and live[number].applied for number in some), "made again"
                applied |= {*some}
        else:
            applied |= {*some}
        for hunk in live:
            if hunk.pending:
                assert desk.standing(path, hunk)
    await desk.reviews.reject([hunk for hunk in live if hunk.pending])
    assert desk.editor.text(path) == TEXT


@settings(max_examples=examples(80))
@given(st.data())
def test_the_editors_undo_and_redo_of_each_accept(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(undo_in_the_editor(data, Path(folder).resolve()))


NEIGHBOURS = {
    "neighbouring lines": [(1, 1, 1), (0, 1, 2)],
    "two insertions at one place": [(2, 0, 2), (0, 0, 1)],
    "three insertions at one place": [(2, 0, 2), (0, 0, 1), (0, 0, 1)],
    "a removal, then an insertion": [(1, 1, 0), (0, 0, 1)],
    "an insertion, then a removal": [(1, 0, 1), (0, 1, 0)],
    "two removals": [(1, 1, 0), (0, 2, 0)],
    "two removals and an insertion between": [(1, 1, 0), (0, 0, 2), (0, 1, 0)],
    "one line between": [(1, 1, 1), (1, 1, 2)],
    "first lines": [(0, 0, 1), (0, 1, 1)],
    "last lines": [(7, 1, 1), (0, 0, 1)],
    "below the last line": [(8, 0, 1), (0, 0, 1)],
}


@pytest.mark.parametrize("order", ["down", "up"])
@pytest.mark.parametrize("name", NEIGHBOURS)
async def test_accepted_and_rejected_one_after_the_other(desk: Desk, name: str, order: str) -> None:
    hunks = hunks_of(TEXT, NEIGHBOURS[name])
    path = desk.editor.open("f.py", TEXT)
    live = propose(desk, path, hunks)
    numbers = range(len(hunks)) if order == "down" else range(len(hunks))[::-1]
    done: set[int] = set()
    for number in numbers:
        await desk.reviews.accept([live[number]], decide=False)
        done.add(number)
        assert desk.editor.text(path) == text_with(TEXT, hunks, done)
    for number in numbers:
        await desk.reviews.reject([live[number]])
        done.discard(number)
        assert desk.editor.text(path) == text_with(TEXT, hunks, done)
    assert {hunk.state for hunk in live} == {"rejected"}


@pytest.mark.parametrize("name", NEIGHBOURS)
async def test_all_at_once_and_the_turn_undone(desk: Desk, name: str) -> None:
    hunks = hunks_of(TEXT, NEIGHBOURS[name])
    path = desk.editor.open("f.py", TEXT)
    live = propose(desk, path, hunks)
    await desk.reviews.accept(live, decide=False)
    assert desk.editor.text(path) == text_with(TEXT, hunks, range(len(hunks)))
    await desk.outside.undo("turn", desk.editor.workspace)
    assert desk.editor.text(path) == TEXT
    assert {hunk.state for hunk in live} == {"rejected"}


async def test_a_hunk_of_an_earlier_turn_waits_beside_a_new_one(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (first,) = propose(desk, path, (Hunk(2, ("line 2\n",), ("first\n",)),), "first")
    (second,) = propose(desk, path, (Hunk(3, ("line 3\n",), ("second\n", "more\n")),), "second")
    (third,) = propose(desk, path, (Hunk(3, (), ("third\n",)),), "third")
    await desk.reviews.accept([second], decide=False)
    await desk.reviews.accept([third], decide=False)
    await desk.reviews.accept([first], decide=False)
    assert desk.lines(path)[1:6] == ["line 1\n", "first\n", "third\n", "second\n", "more\n"]
    await desk.reviews.reject([second])
    assert desk.lines(path)[1:5] == ["line 1\n", "first\n", "third\n", "line 3\n"]
    await desk.reviews.reject([first])
    await desk.reviews.reject([third])
    assert desk.editor.text(path) == TEXT


async def test_two_turns_insert_at_one_place(desk: Desk) -> None:
    """Which of them is above is said by their texts: both were made for the same one, the earlier is above."""
    path = desk.editor.open("f.py", TEXT)
    (first,) = propose(desk, path, (Hunk(2, (), ("first\n",)),), "first")
    (second,) = propose(desk, path, (Hunk(2, (), ("second\n",)),), "second")
    await desk.reviews.accept([first], decide=False)
    await desk.reviews.accept([second], decide=False)
    assert sorted(desk.lines(path)[2:4]) == ["first\n", "second\n"]
    await desk.reviews.reject([first])
    assert desk.lines(path)[1:4] == ["line 1\n", "second\n", "line 2\n"]
    await desk.reviews.reject([second])
    assert desk.editor.text(path) == TEXT


async def test_typing_beside_one_is_typing_into_neither(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    above, below = propose(desk, path, hunks_of(TEXT, [(2, 1, 1), (0, 1, 1)]))
    at = TEXT.index("line 3")
    desk.editor.type(path, (at, at, "typed\n"))
    assert above.pending
    assert below.pending
    await desk.reviews.accept([below])
    await desk.reviews.accept([above])
    assert desk.lines(path)[1:6] == ["line 1\n", "new 0.0\n", "typed\n", "new 1.0\n", "line 4\n"]


async def test_typing_into_one_leaves_the_other(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    above, below = propose(desk, path, hunks_of(TEXT, [(2, 1, 1), (0, 1, 1)]))
    at = TEXT.index("line 2") + 3
    desk.editor.type(path, (at, at, "typed"))
    assert above.state == "conflict"
    await desk.reviews.accept([below])
    assert desk.lines(path)[2:4] == ["lintypede 2\n", "new 1.0\n"]
