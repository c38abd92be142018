"""A change is followed by the hunks near it; those far away are only moved, as they would be by following it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.review.following import divide_by_distance, follow_hunks, recognise
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


@settings(max_examples=examples(150))
@given(st.data())
def test_hunks_far_from_a_change_are_only_moved(data: st.DataObject) -> None:
    """Change after change, among them undos and redos by the editor, some while a hunk is held for a decision."""
    lines, hunks = data.draw(proposals())
    for _ in range(data.draw(st.integers(1, 8))):
        change = data.draw(st.one_of(changes(lines), st.sampled_from([*switches(lines, hunks)])))
        held = {hunk.id for hunk in hunks if data.draw(st.integers(0, 9)) == 0}
        after = [*change.old[: change.first], *change.new, *change.old[change.last :]]
        near, moved = divide_by_distance(hunks, change, held)
        found = {hunk.id: hunk for hunk in [*hunks, *moved, *followed(near, change, after, held)]}
        lines, hunks = after, followed(hunks, change, after, held)
        assert found == {hunk.id: hunk for hunk in hunks}


def followed(
    hunks: Sequence[ReviewHunk], change: TextChange, after: Sequence[str], held: Collection[str]
) -> list[ReviewHunk]:
    """These hunks after the change, whether it is near them or not."""
    moved = zip(hunks, follow_hunks(hunks, change, held), strict=True)
    return [recognise(hunk, after, held, removed=change.removes(before)) for before, hunk in moved]


def switches(lines: Sequence[str], hunks: Sequence[ReviewHunk]) -> Iterator[TextChange]:
    """The undo or redo of each hunk by the editor; one change at least."""
    yield TextChange(lines, ["z\n"], len(lines), len(lines))
    for hunk in hunks:
        wanted = hunk.old if tuple(lines[hunk.start : hunk.end]) == hunk.new else hunk.new
        yield TextChange(lines, [*wanted], hunk.start, hunk.end)


def test_hundreds_of_undone_hunks_are_only_moved_as_well() -> None:
    lines = ["a\n"] * 2000
    made = propose(
        "turn",
        ProposedEdit(PATH, Snapshot(PATH, ""), tuple(Hunk(at, ("a\n",), ("b\n",)) for at in range(0, 2000, 4))),
    )
    undone = [hunk.apply(Event.SENT).apply(Event.WRITTEN).apply(Event.UNDONE) for hunk in made]
    near, moved = divide_by_distance(undone, TextChange(lines, ["c\n", "c\n"], 1000, 1001))
    assert len(near) < 5
    assert [hunk.start for hunk in moved][-1] == 1996 + 1
