"""The fence around a selection is exact to the character, and the selection follows what is written across it."""

from collections.abc import Callable
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.agent.selection import divide_at_selection, follow_selection, hunks_outside_selection, locate_selection
from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.edits import MOVED, NEAR, ProposedEdit
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.snapshot import Snapshot
from tests.exhaustive import examples
from tests.workspace.texts import texts

HERE = Path("/project/a.py")
INSERTS = st.one_of(st.sampled_from(["", "a", "b\n", "\n", "x\r\ny\n"]), texts(size=3))


class Piece(NamedTuple):
    """Three parts of a text; the middle one is selected."""

    before: str
    middle: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.middle + self.after

    @property
    def selection(self) -> Selection:
        end = len(self.before) + len(self.middle)
        return Selection(Snapshot(HERE, self.text, 1), len(self.before), end)

    def leads_to(self, after: str) -> bool:
        """Whether nothing but the middle part would change."""
        kept = len(self.before) + len(self.after)
        return after.startswith(self.before) and after.endswith(self.after) and len(after) >= kept


@st.composite
def pieces(draw: st.DrawFn) -> Piece:
    text = draw(texts())
    start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    return Piece(text[:start], text[start:end], text[end:])


def edit(text: str, after: str, path: Path = HERE) -> ProposedEdit:
    return ProposedEdit.between(Snapshot(path, text, 1), after)


@given(pieces(), INSERTS)
def test_what_changes_only_the_selection_is_never_outside(piece: Piece, new: str) -> None:
    whole = edit(piece.text, piece.before + new + piece.after)
    assert hunks_outside_selection(divide_at_selection(whole, piece.selection), piece.selection) == ()


@given(pieces(), texts())
def test_what_changes_anything_else_is_outside(piece: Piece, after: str) -> None:
    assert (
        not hunks_outside_selection(divide_at_selection(edit(piece.text, after), piece.selection), piece.selection)
    ) == piece.leads_to(after)


ALIKE = st.text(st.sampled_from("a\n"), max_size=16)
"""Of lines so alike that a difference has many shapes."""


@pytest.mark.parametrize("way", [divide_at_selection, lambda whole, _: whole], ids=["divided", "as it came"])
@settings(max_examples=examples(100))
@given(ALIKE, ALIKE, st.booleans())
def test_hunks_that_are_not_outside_change_only_the_selection(
    way: Callable[[ProposedEdit, Selection], ProposedEdit], text: str, new: str, in_place: bool
) -> None:
    """Whichever of them are accepted, and whatever part of the text is selected."""
    for start, end in combinations_with_replacement(range(len(text) + 1), 2):
        piece = Piece(text[:start], text[start:end], text[end:])
        proposed = way(edit(text, piece.before + new + piece.after if in_place else new), piece.selection)
        inside = set(proposed.hunks) - set(hunks_outside_selection(proposed, piece.selection))
        for size in range(1, len(inside) + 1):
            for taken in combinations(inside, size):
                assert piece.leads_to(proposed.only(taken).after), (piece, taken)


def test_hunks_that_change_more_alone_than_together_are_one() -> None:
    piece = Piece("a\nab\na\n\na", "b\n", "a\n}\n")
    whole = edit(piece.text, "a\nab\na\n\na\nb\naa\n}\n")
    proposed = divide_at_selection(whole, piece.selection)
    assert len(proposed.hunks) == 1
    assert proposed.after == whole.after
    assert hunks_outside_selection(proposed, piece.selection) == ()


@given(pieces(), INSERTS, INSERTS)
def test_only_hunks_that_reach_out_are_named(piece: Piece, new: str, other: str) -> None:
    proposed = edit(piece.text, piece.before + new + piece.after + other)
    beyond = hunks_outside_selection(proposed, piece.selection)
    kept = proposed.only(hunk for hunk in proposed.hunks if hunk not in beyond)
    assert hunks_outside_selection(kept, piece.selection) == ()


@given(pieces(), INSERTS, INSERTS, INSERTS)
def test_the_fence_moves_with_what_was_typed(piece: Piece, typed: str, below: str, new: str) -> None:
    """Whatever is found in the newer text is the selected text, and the fence stands around it there."""
    now = typed + piece.before + piece.middle + piece.after + below
    place = locate_selection(piece.selection, now)
    if place is None:
        assert hunks_outside_selection(edit(now, now + "more\n"), piece.selection) != ()
        return
    start, end = place
    assert now[start:end] == piece.middle
    assert (
        hunks_outside_selection(
            divide_at_selection(edit(now, now[:start] + new + now[end:]), piece.selection), piece.selection
        )
        == ()
    )


@given(texts(size=4), texts(size=4), texts(size=4))
def test_typing_in_other_lines_loses_nothing(before: str, after: str, typed: str) -> None:
    piece = Piece(before + "\n", "the only one of its kind\n", after)
    now = typed + "\n" + piece.text
    assert locate_selection(piece.selection, now) == (
        now.index(piece.middle),
        now.index(piece.middle) + len(piece.middle),
    )


@pytest.mark.parametrize(
    ("now", "place"),
    [
        ("one two three\n", (4, 7)),
        ("one  two three\n", (5, 8)),
        ("one twoo three\n", (4, 7)),
        ("one tvo three\n", None),
        ("one to three\n", None),
        ("# new\none two three\n", (10, 13)),
        ("one two three\nfour\n", (4, 7)),
        ("", None),
    ],
)
def test_locate(now: str, place: tuple[int, int] | None) -> None:
    assert locate_selection(Selection(Snapshot(HERE, "one two three\n", 1), 4, 7), now) == place


def test_without_a_selection_nothing_is_outside_and_other_files_always_are() -> None:
    other = Path("/project/b.py")
    proposed = edit("a\n", "b\n", other)
    assert hunks_outside_selection(proposed, None) == ()
    assert hunks_outside_selection(proposed, Selection(Snapshot(HERE, "a\n", 1), 0, 2)) == proposed.hunks


@given(pieces(), texts())
def test_divided_is_the_same_edit(piece: Piece, after: str) -> None:
    whole = edit(piece.text, after)
    parted = divide_at_selection(whole, piece.selection)
    assert (parted.base, parted.after) == (whole.base, whole.after)
    assert divide_at_selection(whole, None) is whole
    if len(parted.hunks) > len(whole.hunks):
        first, last = (piece.text.count("\n", 0, place) for place in (piece.selection.start, piece.selection.end))
        gaps = zip(parted.hunks, parted.hunks[1:], strict=False)
        near = [(one.end, other.start) for one, other in gaps if other.start - one.end <= NEAR]
        assert near, "what is not joined any more is near, and a border lies between"
        assert "\r" in piece.text or all(end <= last + 1 and start >= first for end, start in near)


DIVIDED = {
    "above and inside": ((3, 6), {2, 4}, [[2], [4]], [[2]]),
    "inside and below": ((3, 6), {4, 6}, [[4], [6]], [[6]]),
    "on all sides": ((3, 6), {1, 2, 4, 7}, [[1, 2], [4], [7]], [[1, 2], [7]]),
    "the lines at the border": ((3, 6), {2, 3}, [[2, 3]], [[2, 3]]),
    "both above": ((3, 6), {0, 2}, [[0, 2]], [[0, 2]]),
    "both inside": ((3, 6), {3, 5}, [[3, 5]], []),
}


@pytest.mark.parametrize("name", DIVIDED)
def test_near_changes_are_one_hunk_on_their_side_of_the_border_only(name: str) -> None:
    (first, last), changed, hunks, beyond = DIVIDED[name]
    lines = [f"{number}\n" for number in range(10)]
    after = "".join(f"n{number}x\n" if number in changed else f"{number}\n" for number in range(10))
    text = "".join(lines)
    selected = Selection(Snapshot(HERE, text, 1), len("".join(lines[:first])), len("".join(lines[:last])))

    def changes_of(some: tuple[Hunk, ...]) -> list[list[int]]:
        return [[number for number in sorted(changed) if hunk.start <= number < hunk.end] for hunk in some]

    parted = divide_at_selection(edit(text, after), selected)
    assert changes_of(parted.hunks) == hunks
    assert changes_of(hunks_outside_selection(parted, selected)) == beyond


def test_a_selection_inside_a_line_keeps_that_line_for_itself() -> None:
    selected = Selection(Snapshot(HERE, "0\nx = foo(1)\n2\n3\n", 1), 6, 12)
    parted = divide_at_selection(edit(selected.snapshot.text, "0\nx = bar(1)\n2\nnew\n"), selected)
    assert [hunk.start for hunk in parted.hunks] == [1, 3]
    assert hunks_outside_selection(parted, selected) == parted.hunks[1:]


def test_what_moves_or_removes_the_file_of_the_selection_is_outside() -> None:
    piece = Piece("", "all of it\n", "")
    base = Snapshot(HERE, piece.text, 1)
    removal = ProposedEdit.removal(base)
    assert hunks_outside_selection(removal, piece.selection) == removal.hunks != ()
    move = ProposedEdit(HERE, base, (), target=Path("/project/b.py"))
    assert hunks_outside_selection(move, piece.selection) == (MOVED,)
    assert hunks_outside_selection(move, None) == ()
    assert divide_at_selection(removal, piece.selection) is removal


def test_the_selection_moves_with_its_file() -> None:
    piece = Piece("0\n", "sel\n", "2\n")
    moved = ProposedEdit(HERE, piece.selection.snapshot, (), target=Path("/project/b.py"))
    now = Snapshot(Path("/project/b.py"), piece.text, 1)
    assert follow_selection(piece.selection, moved, now) == Selection(now, 2, 6)


@given(pieces(), INSERTS)
def test_the_selection_becomes_what_replaced_it(piece: Piece, new: str) -> None:
    proposed = edit(piece.text, piece.before + new + piece.after)
    now = Snapshot(HERE, proposed.after, 2)
    followed = follow_selection(piece.selection, proposed, now)
    assert (followed.start, followed.end) == (len(piece.before), len(piece.before) + len(new))
    assert followed.snapshot == now


@given(pieces(), texts(), texts(size=3))
def test_the_selection_stays_in_the_text_whatever_was_written_and_typed(piece: Piece, after: str, typed: str) -> None:
    proposed = edit(piece.text, after)
    now = Snapshot(HERE, typed + after, 2)
    followed = follow_selection(piece.selection, proposed, now)
    assert 0 <= followed.start <= followed.end <= len(followed.snapshot.text)
    assert followed == piece.selection or followed.snapshot == now


FOLLOWED = {
    "above": ("0\n1\n2\n", (2, 4), "new\n0\n1\n2\n", (6, 8)),
    "below": ("0\n1\n2\n", (2, 4), "0\n1\n2\nnew\n", (2, 4)),
    "across the start": ("0\nold\nsel\n2\n", (6, 10), "0\nsel\n2\n", (2, 6)),
    "across the start, and what is left of it is shorter": ("abcdefgh SEL\n", (9, 12), "ab\n", (2, 2)),
    "across the end": ("0\nsel\nold\n2\n", (2, 6), "0\nX\n2\n", (2, 3)),
    "around it": ("0\nsel\n2\n", (2, 6), "X\n", (0, 1)),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_follow(name: str) -> None:
    text, (start, end), after, place = FOLLOWED[name]
    followed = follow_selection(
        Selection(Snapshot(HERE, text, 1), start, end), edit(text, after), Snapshot(HERE, after, 2)
    )
    assert (followed.start, followed.end) == place


def test_the_selection_stays_where_it_was_when_it_cannot_be_found() -> None:
    piece = Piece("0\n", "sel\n", "2\n")
    now = Snapshot(HERE, "0\nthe person wrote here\n2\n", 2)
    assert follow_selection(piece.selection, edit(piece.text, "0\nnew\n2\n"), now) == piece.selection
    other = edit("x\n", "y\n", Path("/project/b.py"))
    assert follow_selection(piece.selection, other, Snapshot(other.path, "y\n")) == piece.selection
    assert follow_selection(piece.selection, edit("changed\n", "more\n"), now) == piece.selection
