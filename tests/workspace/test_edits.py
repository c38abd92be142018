"""Edits lead to the text they promise, and rebased to newer text they lose nothing that was typed."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.workspace.edits import ProposedEdit, map_range, rebase
from tark_lsp.workspace.lines import Hunk, line_changes, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.workspace.texts import LINES, texts

PATH = Path("/folder/a.py")


def edit(old: str, new: str) -> ProposedEdit:
    return ProposedEdit.between(Snapshot(PATH, old), new)


def numbered(*numbers: int, **changed: str) -> str:
    """Lines `1` to `n`, some replaced: `numbered(1, 9, l3="x")`."""
    first, last = numbers
    return "".join(changed.get(f"l{number}", f"{number}\n") for number in range(first, last + 1))


@given(texts(), texts())
def test_between_and_after(old: str, new: str) -> None:
    made = edit(old, new)
    assert made.after == new
    assert made.drafted == Snapshot(PATH, new)
    assert all(b.start - a.end > 3 for a, b in pairwise(made.hunks))


@pytest.mark.parametrize(("apart", "count"), [(1, 1), (3, 1), (4, 2), (9, 2)])
def test_near_hunks_are_one(apart: int, count: int) -> None:
    old = numbered(1, 20)
    new = numbered(1, 20, l2="x\n", **{f"l{3 + apart}": "y\n"})
    assert len(edit(old, new).hunks) == count


def test_some_hunks_only() -> None:
    made = edit(numbered(1, 30), numbered(1, 30, l2="x\n", l12="y\n", l22="z\n"))
    assert made.only(reversed(made.hunks[1:])).after == numbered(1, 30, l12="y\n", l22="z\n")


def test_hunks_of_another_text_are_an_error() -> None:
    made = ProposedEdit(PATH, Snapshot(PATH, "a\n"), (Hunk(0, ("b\n",), ("c\n",)),))
    with pytest.raises(ValueError, match="line 1"):
        _ = made.after


DIFFS = {
    "one line": (
        "a\nb\nc\n",
        "a\nB\nc\n",
        "--- /folder/a.py\n+++ /folder/a.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
    ),
    "no newline at the end": (
        "a",
        "a\n",
        "--- /folder/a.py\n+++ /folder/a.py\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n",
    ),
    "from nothing": ("", "a\n", "--- /folder/a.py\n+++ /folder/a.py\n@@ -0,0 +1,1 @@\n+a\n"),
    "CRLF throughout is not shown": (
        "a\r\nb\r\n",
        "a\r\nB\r\n",
        "--- /folder/a.py\n+++ /folder/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n",
    ),
    "a changed ending is": (
        "a\r\n",
        "a\n",
        "--- /folder/a.py\n+++ /folder/a.py\n@@ -1,1 +1,1 @@\n-a\r\n+a\n",
    ),
    "nothing": ("a", "a", ""),
    "two places": (
        numbered(1, 20),
        numbered(1, 20, l2="", l19="x\ny\n"),
        (
            "--- /folder/a.py\n+++ /folder/a.py\n@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n"
            "@@ -16,5 +15,6 @@\n 16\n 17\n 18\n-19\n+x\n+y\n 20\n"
        ),
    ),
}


@pytest.mark.parametrize(("old", "new", "diff"), DIFFS.values(), ids=DIFFS)
def test_diff(old: str, new: str, diff: str) -> None:
    assert edit(old, new).diff() == diff


def test_diff_of_a_new_file() -> None:
    made = ProposedEdit.between(Snapshot(PATH, "", exists=False), "a\n")
    assert made.diff().startswith("--- /dev/null\n+++ /folder/a.py\n")


# name: base, the agent's text, the user's text, the text with both, conflicts
REBASES = {
    "above": ("a\nb\nc\n", "a\nB\nc\n", "0\na\nb\nc\n", "0\na\nB\nc\n", 0),
    "right above": ("a\nb\nc\n", "a\nB\nc\n", "a\n0\nb\nc\n", "a\n0\nB\nc\n", 0),
    "right below": ("a\nb\nc\n", "a\nB\nc\n", "a\nb\n0\nc\n", "a\nB\n0\nc\n", 0),
    "the line above": ("a\nb\nc\n", "a\nB\nc\n", "A\nb\nc\n", "A\nB\nc\n", 0),
    "the same line": ("a\nb\nc\n", "a\nB\nc\n", "a\nb!\nc\n", "a\nb!\nc\n", 1),
    "the line is gone": ("a\nb\nc\n", "a\nB\nc\n", "a\nc\n", "a\nc\n", 1),
    "done already": ("a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n", "a\nB\nc\n", 0),
    "done already, and more": ("a\nb\nc\nd\n", "a\nB\nc\nd\n", "0\na\nB\nc\nD\n", "0\na\nB\nc\nD\n", 0),
    "inserted already": ("a\nb\n", "a\nx\nb\n", "a\nx\nb\n0\n", "a\nx\nb\n0\n", 0),
    "inserted already among equal lines": ("k\n}\nz\n", "k\n}\n}\nz\n", "0\nk\n}\n}\nz\n", "0\nk\n}\n}\nz\n", 0),
    "both insert": ("a\nb\n", "a\nx\nb\n", "a\ny\nb\n", "a\ny\nb\n", 1),
    "removed already": ("a\nb\nc\nd\n", "a\nc\nd\n", "a\nd\n", "a\nd\n", 0),
    "its lines are gone, but others are new after a blank line": (
        "a1\na2\na3\n\nb\n",
        "\nb\n",
        "\nA1\nA2\nA3\nB\n",
        "\nA1\nA2\nA3\nB\n",
        1,
    ),
    "inside a removed block": ("a\nb\nc\nd\n", "a\nd\n", "a\nb\n0\nc\nd\n", "a\nb\n0\nc\nd\n", 1),
    "one hunk of two": (
        numbered(1, 20),
        numbered(1, 20, l2="x\n", l15="y\n"),
        numbered(1, 20, l2="mine\n"),
        numbered(1, 20, l2="mine\n", l15="y\n"),
        1,
    ),
    "a line without an ending is not glued": ("a\nb\n", "a\nb\nc\n", "a\nb", "a\nb", 1),
    "nor is a new one": ("a\nb\n", "a\nb\nc", "0\na\nb\n", "0\na\nb\nc", 0),
    "all is gone": ("a\nb\n", "a\nB\n", "", "", 1),
    "a fresh file": ("", "a\n", "", "a\n", 0),
    "a file that was made meanwhile": ("", "a\n", "b\n", "b\n", 1),
}


@pytest.mark.parametrize(("base", "agent", "person", "both", "conflicts"), REBASES.values(), ids=REBASES)
def test_rebase(base: str, agent: str, person: str, both: str, conflicts: int) -> None:
    carried, lost = rebase(edit(base, agent), Snapshot(PATH, person, 7))
    assert carried.after == both
    assert carried.base == Snapshot(PATH, person, 7)
    assert len(lost) == conflicts


def test_rebase_to_a_file_that_is_gone() -> None:
    made = edit("", "a\n")
    carried, lost = rebase(made, Snapshot(PATH, "", exists=False))
    assert (carried.hunks, lost) == ((), made.hunks)


def test_rebase_to_an_unchanged_text() -> None:
    made = edit("a\n", "b\n")
    carried, lost = rebase(made, Snapshot(PATH, "a\n", 3))
    assert (carried.hunks, carried.base.version, lost) == (made.hunks, 3, ())


@given(texts(), texts(), st.lists(st.tuples(st.integers(0, 14), st.booleans()), max_size=5))
def test_rebase_loses_nothing_that_was_typed(base: str, agent: str, typed: list[tuple[int, bool]]) -> None:
    lines = split_lines(base)
    for number, (at, replace) in enumerate(typed):
        at = min(at, len(lines))
        lines[at : at + replace] = [f"typed {number}\n"]
    current = "".join(lines)
    carried, _ = rebase(edit(base, agent), Snapshot(PATH, current))
    kept = [line for line in split_lines(current) if "typed" in line]
    assert [line for line in split_lines(carried.after) if "typed" in line] == kept
    for hunk in carried.hunks:
        assert not any("typed" in line for line in hunk.old)


@given(texts(endings=("\n",)), texts(endings=("\n",)), texts(endings=("\n",)))
def test_rebase_changes_only_lines_of_the_base(base: str, agent: str, person: str) -> None:
    made = edit(base, agent)
    carried, lost = rebase(made, Snapshot(PATH, person))
    assert set(lost) <= set(made.hunks)
    assert len(carried.hunks) + len(lost) <= len(made.hunks)
    assert {(hunk.old, hunk.new) for hunk in carried.hunks} <= {(hunk.old, hunk.new) for hunk in made.hunks}
    added = [line for hunk in line_changes(base, person) for line in hunk.new]
    rest = iter(split_lines(carried.after))
    assert all(line in rest for line in added)  # all there, in order


@given(st.sets(st.integers(1, 30), max_size=6), st.sets(st.integers(1, 30), max_size=6))
def test_changes_of_different_lines_both_stand(agents: set[int], persons: set[int]) -> None:
    persons -= {near for line in agents for near in range(line - 3, line + 4)}  # in no joined hunk
    agent, person = (
        {f"l{line}": f"{who} {line}\n" for line in lines} for who, lines in (("a", agents), ("p", persons))
    )
    carried, lost = rebase(edit(numbered(1, 30), numbered(1, 30, **agent)), Snapshot(PATH, numbered(1, 30, **person)))
    assert (carried.after, lost) == (numbered(1, 30, **agent, **person), ())


@given(texts(), texts(LINES, size=6))
def test_what_was_applied_can_be_taken_back(base: str, agent: str) -> None:
    inverse = edit(agent, base)
    assert rebase(inverse, Snapshot(PATH, agent))[0].after == base
    assert rebase(inverse, Snapshot(PATH, base)) == (ProposedEdit(PATH, Snapshot(PATH, base), ()), ()) or base == agent


RANGES = {
    "nothing changed": ("abc\ndef\n", "abc\ndef\n", (4, 7), (4, 7)),
    "a line above": ("abc\ndef\n", "x\nabc\ndef\n", (4, 7), (6, 9)),
    "below": ("abc\ndef\n", "abc\ndef\nx\n", (4, 7), (4, 7)),
    "before it in the line": ("f(a, b)\n", "g.f(a, b)\n", (2, 3), (4, 5)),
    "after it in the line": ("f(a, b)\n", "f(a, bc)\n", (2, 3), (2, 3)),
    "right before it": ("ab\n", "a-b\n", (1, 2), (2, 3)),
    "right after it": ("ab\n", "a-b\n", (0, 1), (0, 1)),
    "inside": ("abcd\n", "ab-cd\n", (1, 3), None),
    "removed": ("a\nb\nc\n", "a\nc\n", (2, 3), None),
    "a line inside several": ("a\nb\nc\n", "a\nB\nc\n", (0, 6), None),
    "the whole text": ("a\nb\n", "a\nb\n", (0, 4), (0, 4)),
    "a caret, typed before": ("ab\n", "xab\n", (1, 1), (2, 2)),
    "a caret, typed at": ("ab\n", "axb\n", (1, 1), (2, 2)),
    "a caret in what went": ("abc\n", "c\n", (1, 1), None),
    "between two changes": ("a\nb\nc\nd\ne\n", "A!\nb\nc\nd\nE\n", (4, 5), (5, 6)),
}


@pytest.mark.parametrize(("old", "new", "before", "after"), RANGES.values(), ids=RANGES)
def test_map_range(old: str, new: str, before: tuple[int, int], after: tuple[int, int] | None) -> None:
    assert map_range(old, new, *before) == after


@given(texts(), texts(), st.data())
def test_a_mapped_range_has_the_same_text(old: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(old)))
    end = data.draw(st.integers(start, len(old)))
    mapped = map_range(old, new, start, end)
    assert mapped is None or new[mapped[0] : mapped[1]] == old[start:end]
