"""Random changes of random files, written as patches: what is accepted gives the very text that was meant."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tark_lsp.errors import ToolError
from tark_lsp.tools.patch_format import parse_patch
from tark_lsp.tools.patch_placing import patched
from tark_lsp.workspace.lines import changed_ranges, ending_of, split_lines
from tests.exhaustive import examples

LINES = st.lists(st.sampled_from(["a", "b", "c", "    a", "def f():", "", "x" * 9, "-", "+y", "@@ b"]), max_size=12)
"""Few kinds of lines, so that most places have look-alikes, and signs that could be taken for those of the patch."""


def as_patch(old: Sequence[str], new: Sequence[str], context: int) -> str:
    """Each change a chunk of its own, so that the context of neighbours overlaps."""
    out = ["*** Begin Patch", "*** Update File: a.py"]
    for i1, i2, j1, j2 in changed_ranges(old, new):
        out.append("@@")
        out += [f" {line}" for line in old[max(0, i1 - context) : i1]]
        out += [f"-{line}" for line in old[i1:i2]]
        out += [f"+{line}" for line in new[j1:j2]]
        out += [f" {line}" for line in old[i2 : i2 + context]]
    return "\n".join([*out, "*** End Patch"])


@settings(max_examples=examples(400))
@given(LINES, LINES, st.integers(0, 4), st.sampled_from(["\n", "\r\n"]), st.booleans())
@example(["a", "a", "a", "b"], ["a", "a", "c", "b"], 1, "\n", True)
@example(["a", "b", "a", "b", "a"], ["a", "c", "a", "c", "a"], 1, "\n", False)
def test_what_is_accepted_is_what_was_meant(
    old: list[str], new: list[str], context: int, ending: str, ended: bool
) -> None:
    if old == new or (not ended and "" in (*old[-1:], *new[-1:])):
        return  # an empty last line without an ending is no line
    (section,) = parse_patch(as_patch(old, new, context))
    text = ending.join(old) + (ending if ended and old else "")
    try:
        after = patched(text, section.chunks)
    except ToolError:
        return
    known = len(old) > (0 if ended else 1)  # a file of one line without an ending has no kind of them
    assert [line.rstrip("\r\n") for line in split_lines(after)] == new
    assert {ending_of(line) for line in split_lines(after)[:-1]} <= {ending if known else "\n"}
    if ended and old and new:
        assert after.endswith(ending)


@pytest.mark.parametrize("context", [1, 3])
def test_many_chunks_of_a_file_without_look_alikes_are_all_placed(context: int) -> None:
    old = [f"line {number}" for number in range(300)]
    new = [line if number % 10 else f"new {number}" for number, line in enumerate(old)]
    (section,) = parse_patch(as_patch(old, new, context))
    assert len(section.chunks) == 30
    assert patched("\n".join(old) + "\n", section.chunks) == "\n".join(new) + "\n"
