"""Edits for an editor that cannot add lines after the last one."""

from pathlib import Path

import pytest

from tark_lsp.server.editing.text_edits import anchored
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.snapshot import Snapshot


@pytest.mark.parametrize(
    ("text", "after", "first_line"),
    [
        ("a\nb\n", "a\nb\nc\n", 1),
        ("a\nb\n", "a\nb\nc\n\n\n", 1),
        ("a\r\nb\r\n", "a\r\nb\r\nc\r\n", 1),
        ("a\nb\n", "a\nb\nc", 1),
        ("a\nb\n", "a\nx\nb\n", 1),
        ("a\nb", "a\nb\nc\n", 1),
        ("a\nb\n", "a\n", 1),
        ("", "a\n", 0),
        ("\n", "\na\n", 0),
    ],
)
def test_lines_after_the_last_are_an_edit_of_the_last(text: str, after: str, first_line: int) -> None:
    edit = ProposedEdit.between(Snapshot(Path("/f"), text), after)
    sent = anchored(edit)
    assert sent.after == after
    assert sent.hunks[0].start == first_line
    assert len(sent.hunks) == len(edit.hunks)


def test_with_another_hunk_before_it() -> None:
    base = Snapshot(Path("/f"), "a\nb\n")
    first, added = Hunk(0, ("a\n",), ("A\n",)), Hunk(2, (), ("c\n",))
    assert anchored(ProposedEdit(base.path, base, (first, added))).hunks == (first, Hunk(1, ("b\n",), ("b\n", "c\n")))
    touching = ProposedEdit(base.path, base, (Hunk(1, ("b\n",), ("B\n",)), added))
    assert anchored(touching) == touching
