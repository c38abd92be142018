"""The inverse of several edits of one file, some of which undid each other."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.workspace.checkpoints.inverse_edit import inverse_edit
from tark_lsp.workspace.snapshot import Snapshot
from tests.exhaustive import examples

TEN = "".join(f"{n}\n" for n in range(10))
CUT = TEN.replace("3\n4\n", "")


def undone(steps: list[tuple[str, str]], current: str) -> tuple[str, int]:
    edit, lost, _ = inverse_edit(steps, Snapshot(Path("a"), current))
    return edit.after, lost


@pytest.mark.parametrize(
    ("steps", "current", "wanted", "lost"),
    [
        ([(TEN, CUT)], CUT, TEN, 0),
        ([(TEN, CUT), (CUT, TEN)], TEN, TEN, 0),
        # Undone beside typed text: nothing is left, and nothing is removed again.
        ([(TEN, CUT), (f"{CUT}mine\n", f"{TEN}mine\n")], f"{TEN}mine\n", f"{TEN}mine\n", 0),
        (
            [(TEN, CUT), (CUT.replace("2\n", "2\nmine\n"), TEN.replace("2\n", "2\nmine\n"))],
            TEN.replace("2\n", "mine too\n"),
            TEN.replace("2\n", "mine too\n"),
            0,
        ),
        # The same if the diffs begin at another of several equal lines.
        (
            [("a\nb\nb\nc\n", "a\nb\nc\n"), ("a\nb\nmine\nc\n", "a\nb\nb\nmine\nc\n")],
            "a\nb\nb\nmine\nc\n",
            "a\nb\nb\nmine\nc\n",
            0,
        ),
        # Changed twice at one place.
        ([(TEN, TEN.replace("3", "x")), (TEN.replace("3", "x"), TEN.replace("3", "y\nz"))], "mine\n", "mine\n", 1),
        (
            [(TEN, TEN.replace("3", "x")), (TEN.replace("3", "x"), TEN.replace("3", "y\nz"))],
            TEN.replace("3", "y\nz") + "mine\n",
            TEN + "mine\n",
            0,
        ),
        # Typed over between two changes: that stays, the other change is undone.
        (
            [(TEN, TEN.replace("3", "x")), (TEN.replace("3", "mine"), TEN.replace("3", "mine").replace("8", "y"))],
            TEN.replace("3", "mine").replace("8", "y"),
            TEN.replace("3", "mine"),
            1,
        ),
        # The agent wrote the same lines again, in another order: they come back in the order that they had.
        ([("b\na\n", ""), ("above\n", "above\na\nb\n")], "above\na\nb\n", "above\nb\na\n", 0),
        # A line like a lost one, written at another place, is another change. It stays if it is the only one.
        ([("b\na\n", "a\n"), ("above\na\n", "above\na\nb\n")], "above\na\nb\n", "above\na\nb\n", 2),
        ([("b\na\nb\n", "a\n"), ("up\na\n", "up\na\nb\nb\n")], "up\na\nb\nb\n", "up\na\nb\n", 1),
        ([("b\na\nc\n", "a\nc\nb\n")], "above\na\nc\nb\n", "above\na\nc\nb\n", 2),
        # Not if they can come back above or below another change.
        (
            [("a\na\nb\n", ""), ("above\n", "above\nx\n"), ("above\nx\n", "above\nx\na\na\n")],
            "above\nx\na\na\nmine\na\n",
            "above\nmine\na\n",
            1,
        ),
        # No line tells where the lines were, until they come back there; the last of them had no ending.
        (
            [("\npass\nlast", "\n"), ("  \nmine\n\n\n", "  \npass\nlast\nmine\n\n\n")],
            "  \npass\nlast\nmine\n\n\nmore",
            "  \npass\nlast\nmine\n\n\nmore",
            0,
        ),
        ([("k\nx\ny\n", "k\n")], "k mine\nmore\n", "k mine\nmore\n", 1),
        ([("k\nx\ny\n", "k\n")], "k mine\n", "k mine\nx\ny\n", 0),
        # A line that became another one can also be gone, with a new one below the place. An edited line is the same.
        (
            [("k\nnew\nx\nend\n", "k\nnew\nend\n")],
            "k\nother\nend\n",
            "k\nother\nend\n",
            1,
        ),
        ([("k\nnew a\nx\nend\n", "k\nnew a\nend\n")], "k\nnew b\nend\n", "k\nnew b\nx\nend\n", 0),
        ([("k\n\nx\nend\n", "k\n\nend\n")], "k\nmine\nend\n", "k\nmine\nx\nend\n", 0),
        # Lines that the agent itself put back, and that cannot be moved since you typed between them, stand there once.
        (
            [("1\na\nb\nc\n2\n", "1\nn\n2\n"), ("1\nmine\nn\n2\n", "1\na\nb\nmine\nc\n2\n")],
            "1\na\ntyped\nb\nmine\nc\n2\n",
            "1\na\ntyped\nb\nmine\nc\n2\n",
            2,
        ),
        # An undo of what was left by then is a step, too.
        (
            [(TEN, CUT.replace("8", "x")), (CUT.replace("8", "mine"), TEN.replace("8", "mine"))],
            TEN.replace("8", "mine").replace("5\n", "5 mine\n"),
            TEN.replace("8", "mine").replace("5\n", "5 mine\n"),
            1,
        ),
        # In the same order it is the same change, also if the diffs begin it at another line.
        ([("a\nb\n", ""), ("above\n", "above\na\nb\n")], "above\na\nb\n", "above\na\nb\n", 0),
        (
            [("a\nb\na\nc\n", "a\nc\n"), ("a\nmine\nc\n", "a\nb\na\nmine\nc\n")],
            "a\nb\na\nmine\nc\n",
            "a\nb\na\nmine\nc\n",
            0,
        ),
    ],
)
def test_what_is_taken_back(steps: list[tuple[str, str]], current: str, wanted: str, lost: int) -> None:
    assert undone(steps, current) == (wanted, lost)


texts = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\n"]), max_size=8).map("".join)


@settings(max_examples=examples(300))
@given(st.lists(texts, min_size=2, max_size=6))
def test_steps_with_nothing_between_them_lead_back_to_the_first_text(all_texts: list[str]) -> None:
    steps = list(pairwise(all_texts))
    assert undone(steps, all_texts[-1]) == (all_texts[0], 0)


@settings(max_examples=examples(300))
@given(st.lists(texts, min_size=2, max_size=4), st.sampled_from(["", "above\n"]), st.sampled_from(["", "below\n"]))
def test_what_is_typed_at_both_ends_stays(all_texts: list[str], above: str, below: str) -> None:
    """The user types above from the first change on, and below since the last one."""
    first, second, *others = all_texts
    steps = [(first, second)]
    for before, after in pairwise([second, *others]):
        steps.append((above + before, above + after))
    current = above + all_texts[-1] + below
    text, lost = undone(steps, current)
    assert text.startswith(above)
    assert text.endswith(below)
    assert lost or text == above + first + below


typing = st.lists(st.tuples(st.integers(0, 10), st.booleans()), max_size=3)


def typed_in(text: str, places: list[tuple[int, bool]], name: str) -> str:
    """The text with lines of the user, each in a new place or over a line."""
    lines = text.splitlines(keepends=True)
    for number, (at, over) in enumerate(places):
        lines[at : at + over] = [f"typed {name}{number}\n"]
    return "".join(lines)


@settings(max_examples=examples(300))
@given(texts, st.lists(st.tuples(texts, typing), min_size=1, max_size=4), typing)
def test_what_is_typed_stays_and_a_second_undo_does_nothing(
    first: str, edits: list[tuple[str, list[tuple[int, bool]]]], later: list[tuple[int, bool]]
) -> None:
    """The agent changes everything, and moves the lines that the user typed by then to the end."""
    steps, now = [], first
    for number, (new, places) in enumerate(edits):
        typed = "".join(line for line in now.splitlines(keepends=True) if "typed" in line)
        steps.append((now, new + typed))
        now = typed_in(new + typed, places, f"{number}.")
    after, lost = undone(steps, now)
    assert {line for line in now.split("\n") if "typed" in line} <= {*after.split("\n")}
    assert after == now or undone([*steps, (now, after)], after) == (after, lost)
    again = typed_in(after, later, "later ")
    assert after == now or undone([*steps, (now, after)], again)[0] == again
