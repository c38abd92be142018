"""A change is followed by the hunks near it; those far away are only moved, as they would be by following it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.review.following import divide_by_distance, follow_hunks
from tark_lsp.review.hunk import ReviewHunk, propose
from tark_lsp.review.life import Event, Life
from tark_lsp.review.text_change import TextChange
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.snapshot import Snapshot
from tests.exhaustive import examples

PATH = Path("/f")
some_lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=3)


@st.composite
def proposals(draw: st.DrawFn) -> tuple[list[str], list[ReviewHunk]]:
    """Lines, and hunks that are in them with their old lines or, if they are applied, with their new ones."""
    lines: list[str] = []
    hunks: list[Hunk] = []
    applied: list[bool] = []
    for _ in range(draw(st.integers(1, 6))):
        lines += draw(st.lists(st.sampled_from(["a\n", "b\n", "x\n", "y\n"]), min_size=1, max_size=8))
        old, new = draw(some_lines), draw(some_lines)
        if old == new:
            continue
        applied.append(draw(st.booleans()))
        hunks.append(Hunk(len(lines), tuple(old), tuple(new)))
        lines += new if applied[-1] else old
    made = propose("turn", ProposedEdit(PATH, Snapshot(PATH, ""), tuple(hunks)))
    found = [
        replace(hunk, life=Life.APPLIED, size=len(hunk.new)) if is_applied else hunk
        for hunk, is_applied in zip(made, applied, strict=True)
    ]
    return lines, found


@st.composite
def changes(draw: st.DrawFn, lines: Sequence[str]) -> TextChange:
    first = draw(st.integers(0, len(lines)))
    last = draw(st.integers(first, min(len(lines), first + 4)))
    return TextChange(lines, draw(st.lists(st.sampled_from(["a\n", "b\n", "c\n", "z\n"]), max_size=4)), first, last)


@settings(max_examples=examples(500))
@given(st.data())
def test_hunks_far_from_a_change_are_only_moved(data: st.DataObject) -> None:
    lines, hunks = data.draw(proposals())
    change = data.draw(changes(lines))
    near, moved = divide_by_distance(hunks, change)
    found = {hunk.id: hunk for hunk in [*hunks, *moved, *follow_hunks(near, change)]}
    assert found == {hunk.id: hunk for hunk in follow_hunks(hunks, change)}


def test_a_hunk_that_was_undone_is_always_near() -> None:
    lines = ["a\n"] * 200
    (hunk,) = propose("turn", ProposedEdit(PATH, Snapshot(PATH, ""), (Hunk(0, ("a\n",), ("b\n",)),)))
    change = TextChange(lines, ["c\n"], 150, 151)
    assert divide_by_distance([hunk], change) == ([], [])
    undone = hunk.apply(Event.SENT).apply(Event.WRITTEN).apply(Event.UNDONE)
    assert divide_by_distance([undone], change) == ([undone], [])
