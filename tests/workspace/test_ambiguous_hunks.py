"""Ambiguous hunks are not rebased to a newer text, and rebased hunks are at the place that all readings agree on."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.workspace.ambiguous_hunks import ambiguous_hunks
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.workspace.texts import texts

PATH = Path("/folder/a.py")
FEW = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "}\n", "\n"]), min_size=1, max_size=9)


def edit(old: str, new: str) -> ProposedEdit:
    return ProposedEdit.between(Snapshot(PATH, old), new)


def carried(made: ProposedEdit, text: str) -> str | None:
    """Rebased as the tools do it; None if it is refused."""
    current = Snapshot(PATH, text)
    moved, conflicts = rebase(made, current)
    return None if conflicts or ambiguous_hunks(made, current) else moved.after


# name: base, the agent's text, the user's text, whether it is refused
CASES = {
    "lines added where nothing changed": ("a\nb\n", "a\nx\nb\n", "a\nb\n", False),
    "lines added far from a change": ("a\nb\nc\nd\n", "a\nx\nb\nc\nd\n", "a\nb\nc\nD\n", False),
    "lines added after a block that went": ("a\nb\nc\nd\n", "a\nb\nc\nx\nd\n", "a\nd\n", True),
    "lines added inside a block that went": ("a\nb\nc\nd\n", "a\nb\nx\nc\nd\n", "a\nd\n", True),
    "lines added after a line that was changed": ("a\nb\nc\n", "a\nb\nx\nc\n", "a\nB\nc\n", True),
    "one of two equal lines went": ("k\na\na\nz\n", "k\nA\na\nz\n", "k\na\nz\n", True),
    "one more of them came": ("k\na\nz\n", "k\nA\nz\n", "k\na\na\nz\n", True),
    "one of two equal blocks went": ("a\nb\na\nb\nz\n", "A\nb\na\nb\nz\n", "a\nb\nz\n", True),
    "the line that begins a block begins the next": ("k\ne\na\ne\nz\n", "k\nE\na\ne\nz\n", "k\ne\nz\n", True),
    "equal lines elsewhere": ("a\nb\na\nz\n", "a\nB\na\nz\n", "a\nb\na\na\nz\n", False),
    "what went was to go": ("a\nb\nc\n", "a\nc\n", "a\nc\n", False),
}


@pytest.mark.parametrize(("base", "agent", "person", "refused"), CASES.values(), ids=CASES)
def test_unmoored(base: str, agent: str, person: str, refused: bool) -> None:
    assert (carried(edit(base, agent), person) is None) == refused


@given(FEW, st.data())
def test_lines_that_went_are_read_in_every_way(lines: list[str], data: st.DataObject) -> None:
    """The agent changes one line, the user removes some: all ways to remove them must agree."""
    at = data.draw(st.integers(0, len(lines) - 1))
    start = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(start + 1, len(lines)))
    size, text = end - start, "".join(lines[:start] + lines[end:])
    agents = [*lines[:at], "agent\n", *lines[at + 1 :]]
    readings = {
        None if first <= at < first + size else "".join(agents[:first] + agents[first + size :])
        for first in range(len(lines) - size + 1)
        if "".join(lines[:first] + lines[first + size :]) == text
    }
    result = carried(edit("".join(lines), "".join(agents)), text)
    assert result is None or readings == {result}


@given(FEW, FEW, st.data())
def test_lines_that_came_are_read_in_every_way(lines: list[str], more: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))
    start = data.draw(st.integers(0, len(lines)))
    new = [*lines[:start], *more, *lines[start:]]
    agents = [*lines[:at], "agent\n", *lines[at + 1 :]]
    readings = {
        "".join([*agents[:first], *new[first : first + len(more)], *agents[first:]])
        for first in range(len(lines) + 1)
        if [*lines[:first], *new[first : first + len(more)], *lines[first:]] == new
    }
    result = carried(edit("".join(lines), "".join(agents)), "".join(new))
    assert result is None or readings == {result}


@given(texts(), texts())
def test_a_text_that_did_not_change_changes_nothing(base: str, agent: str) -> None:
    made = edit(base, agent)
    assert rebase(made, made.base) == (made, ())
    assert ambiguous_hunks(made, made.base) == ()


@given(texts(endings=("\n",)), texts(endings=("\n",)), texts(endings=("\n",)))
def test_what_is_neither_carried_nor_in_conflict_is_there_already(base: str, agent: str, person: str) -> None:
    made = edit(base, agent)
    moved, conflicts = rebase(made, Snapshot(PATH, person))
    assert set(ambiguous_hunks(made, Snapshot(PATH, person))) <= set(made.hunks) - set(conflicts)
    carried_lines = [(hunk.old, hunk.new) for hunk in moved.hunks]
    for hunk in made.hunks:
        if hunk in conflicts or (hunk.old, hunk.new) in carried_lines:
            continue
        assert _stands(hunk, split_lines(person))


def _stands(hunk: Hunk, lines: list[str]) -> bool:
    size = len(hunk.new)
    return any(tuple(lines[at : at + size]) == hunk.new for at in range(len(lines) - size + 1))
