"""Only changed lines are sent; an editor that cannot add lines after the last one gets them at the end of that line."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings

from tark_lsp.server.editing.text_edits import anchored
from tark_lsp.workspace.edits import ProposedEdit, changed_lines
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.outcomes import Applied
from tark_lsp.workspace.snapshot import Snapshot
from tests.exhaustive import examples
from tests.server.scripted import Json, ScriptedEditor
from tests.workspace.texts import texts


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


SENT: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "two lines of one hunk": ("1\n2\n3\n4\n5\n", "1\nx\n3\ny\n5\n", [("2\n", "x\n"), ("4\n", "y\n")]),
    "an insertion in a hunk": ("1\n2\n3\n4\n5\n", "1\nx\n3\nnew\n4\n5\n", [("2\n", "x\n"), ("", "new\n")]),
    "all lines but one": ("1\n2\n3\n", "x\n2\ny\n", [("1\n", "x\n"), ("3\n", "y\n")]),
    "CRLF": ("1\r\n2\r\n3\r\n", "x\r\n2\r\ny\r\n", [("1\r\n", "x\r\n"), ("3\r\n", "y\r\n")]),
    "no newline at the end": ("1\n2\n3", "x\n2\ny", [("1\n", "x\n"), ("3", "y")]),
    "below the last line": ("1\n2\n", "1\n2\n3\n", [("", "3\n")]),
    "below a last line without a newline": ("1\n2", "1\n2\n3", [("", "\n3")]),
    "below a last line without a newline, with one": ("1\n2", "1\n2\n3\n", [("", "\n3\n")]),
    "below a last line without a newline, of two units": ("1\n\U0001f967", "1\n\U0001f967\n3", [("", "\n3")]),
    "a newline at the end": ("1\n2", "1\n2\n", [("", "\n")]),
    "no newline at the end any more": ("1\n2\n", "1\n2", [("\n", "")]),
    "the last lines removed, and the newline": ("1\n2\n3", "1\n2", [("\n3", "")]),
    "the last lines replaced below the same line": ("1\r\n2\r\n3", "1\r\n2", [("\r\n3", "")]),
    "the last line removed": ("1\n2\n", "1\n", [("2\n", "")]),
}
TO_NEOVIM: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    **SENT,
    "below the last line": ("1\n2\n", "1\n2\n3\n4\n", [("", "\n3\n4")]),
    "below the last line, CRLF": ("1\r\n2\r\n", "1\r\n2\r\n3\r\n", [("", "\r\n3")]),
    "and the newline at the end taken": ("1\n2\n", "1\n2\n3", [("\n", "\n3")]),
    "below an empty line": ("1\n\n", "1\n\n3\n", [("", "\n3")]),
    "below a line with a character of two units": ("1\n\U0001f967\n", "1\n\U0001f967\n3\n", [("", "\n3")]),
}
EDITORS = {"Neovim": TO_NEOVIM, "Visual Studio Code": SENT}
CASES = [(name, case) for name, cases in EDITORS.items() for case in cases]


@pytest.mark.virtual_clock
@pytest.mark.parametrize(("name", "case"), CASES)
async def test_only_changed_lines_are_sent(tmp_path: Path, name: str, case: str) -> None:
    text, after, wanted = EDITORS[name][case]
    editor = ScriptedEditor(tmp_path, name=name)
    path = editor.open("f.py", text)
    found: list[tuple[str, str]] = []

    def look(params: Json) -> Json:
        spans = editor.spans(path, params["edit"]["documentChanges"][0]["edits"])
        found.extend((editor.text(path)[start:end], new) for start, end, new in reversed(spans))
        return editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = look
    edit = ProposedEdit.between(editor.workspace.read(path), after)
    assert isinstance(await editor.workspace.apply(edit, "label"), Applied)
    assert (editor.text(path), found) == (after, wanted)


@settings(max_examples=examples(150))
@given(texts(), texts())
def test_no_line_that_stays_is_sent(text: str, after: str) -> None:
    """A hunk begins and ends with lines that change, and one that only adds lines has no line of the text."""
    sent = changed_lines(ProposedEdit.between(Snapshot(Path("/f"), text), after))
    assert sent.after == after
    for hunk in sent.hunks:
        assert not hunk.old or not hunk.new or (hunk.old[0] != hunk.new[0] and hunk.old[-1] != hunk.new[-1])
    for above, below in pairwise(sent.hunks):
        assert above.end < below.start, "a line that stays is between them"
