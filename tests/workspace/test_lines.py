"""Lines are split as in LSP, and changes between texts are exact, small and always at the same place."""

import random
import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.workspace.lines import Hunk, count_lines, ending_of, line_changes, split_lines, sure_changes
from tests.patience import AT_ONCE
from tests.workspace.texts import texts


def put(old: str, hunks: list[Hunk]) -> str:
    lines = split_lines(old)
    for hunk in reversed(hunks):
        assert tuple(lines[hunk.start : hunk.end]) == hunk.old
        lines[hunk.start : hunk.end] = hunk.new
    return "".join(lines)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("a\r\nb\rc\nd", ["a\r\n", "b\r", "c\n", "d"]),
        ("\n\r", ["\n", "\r"]),
        ("\r\r\n", ["\r", "\r\n"]),
        ("a\u2028b\x0bc\x0cd\x85e\x1cf\n", ["a\u2028b\x0bc\x0cd\x85e\x1cf\n"]),
    ],
)
def test_split_lines(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines
    assert count_lines(text) == sum(bool(ending_of(line)) for line in lines)


@given(st.text(alphabet="ab\r\n\u2028\x85", max_size=30))
def test_split_lines_agrees_with_a_plain_expression(text: str) -> None:
    assert split_lines(text) == re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


@pytest.mark.parametrize(
    ("old", "new", "hunks"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", [Hunk(1, ("b\n",), ("B\n",))]),
        ("a\n", "a", [Hunk(0, ("a\n",), ("a",))]),
        ("a\r\nb", "a\nb", [Hunk(0, ("a\r\n",), ("a\n",))]),
        ("a\rb", "a\r\nb", [Hunk(0, ("a\r",), ("a\r\n",))]),
        ("\n\n", "\r\n\n", [Hunk(0, ("\n",), ("\r\n",))]),
        ("", "a\n", [Hunk(0, (), ("a\n",))]),
        ("a\n", "", [Hunk(0, ("a\n",), ())]),
        # a removal and an insertion among equal lines are always at the last possible place
        ("x\n}\n}\ny\n", "x\n}\ny\n", [Hunk(2, ("}\n",), ())]),
        # indented lines are not the lines that were indented as much before
        (
            "{\n{\n  }\n}\n",
            "{\n  {\n    }\n  }\n",
            [Hunk(1, ("{\n", "  }\n", "}\n"), ("  {\n", "    }\n", "  }\n"))],
        ),
        ("a\nz\nA\nA\n", "a2\nz\nA\nA\nA\n", [Hunk(0, ("a\n",), ("a2\n",)), Hunk(4, (), ("A\n",))]),
    ],
)
def test_line_changes(old: str, new: str, hunks: list[Hunk]) -> None:
    assert line_changes(old, new) == hunks


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("a\nb\n\nc\nd\n", "A\nB\n\nC\nD\n", 1),
        ("a\nb\n}\nc\nd\n", "A\nB\n}\nC\nD\n", 1),
        # The one line of its kind, or as many lines as changed, tell that they are the same.
        ("a\nb\nfound\nc\nd\n", "A\nB\nfound\nC\nD\n", 2),
        ("a\n\nb\n", "A\n\nB\n", 2),
        ("a\nb\n\n\nc\nd\n", "A\nB\n\n\nC\nD\n", 2),
        ("a\nb\n\nc\n", "A\nB\n\nc\n", 1),
        ("a\n", "a\n", 0),
    ],
)
def test_lines_that_are_common_by_chance(old: str, new: str, count: int) -> None:
    changes = sure_changes(line_changes(old, new), old, new)
    assert len(changes) == count
    assert put(old, changes) == new


@given(texts(), texts())
def test_changes_lead_from_one_text_to_the_other(old: str, new: str) -> None:
    hunks = line_changes(old, new)
    assert put(old, hunks) == new
    assert all(hunk.old != hunk.new for hunk in hunks)
    assert all(before.end < after.start for before, after in pairwise(hunks))


@given(texts(size=8), st.lists(st.tuples(st.integers(0, 8), texts(size=2)), max_size=3))
def test_one_insertion_more_keeps_the_others_in_place(old: str, inserted: list[tuple[int, str]]) -> None:
    lines = split_lines(old)
    for at, text in inserted:
        lines.insert(min(at, len(lines)), text)
    new = "".join(lines)
    assert put(old, line_changes(old, new)) == new


@pytest.mark.parametrize("change", ["line", "scattered", "shuffled", "repeated"])
def test_big_texts_take_no_time(change: str) -> None:
    source = random.Random(1)
    lines = [f"line {number % 700} of {source.random()}\n" for number in range(10_000)]
    if change == "repeated":
        lines = [source.choice("ab}") + "\n" for _ in range(10_000)]
    new = list(lines)
    if change == "line":
        new[5_000] = "changed\n"
    elif change == "scattered":
        for at in range(0, 10_000, 250):
            new[at] = "changed\n"
    else:
        source.shuffle(new)
    began = time.process_time()
    hunks = line_changes("".join(lines), "".join(new))
    assert time.process_time() - began < AT_ONCE  # difflib alone takes minutes for some of these
    assert put("".join(lines), hunks) == "".join(new)
