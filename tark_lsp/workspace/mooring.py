"""The hunks of an edit that must not be carried to a newer text, as nobody can tell where they belong there; pure."""

from collections.abc import Sequence

from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, line_changes, split_lines
from tark_lsp.workspace.snapshot import Snapshot


def unmoored(edit: ProposedEdit, current: Snapshot) -> tuple[Hunk, ...]:
    """The hunks whose place cannot be told from the text: carried, they might come to stand where nobody meant.

    Lines only added, next to lines that are changed or gone since: where they belong may be gone, too. And lines that
    stand there twice in a row, one of which came or went since: nobody can tell which.
    """
    lines = split_lines(edit.base.text)
    changes = [(_earliest(change, lines), change) for change in line_changes(edit.base.text, current.text)]
    lost = [
        hunk
        for hunk in edit.hunks
        if any(
            first < hunk.end and hunk.start < change.end
            if hunk.old
            else change.old and first <= hunk.start <= change.end
            for first, change in changes
        )
    ]
    return tuple(hunk for hunk in lost if rebase(edit.only([hunk]), current)[0].hunks)


def _earliest(change: Hunk, lines: Sequence[str]) -> int:
    """The first line where the change could begin and lead to the same text: among equal lines there are several."""
    at = change.start
    if change.old and change.new:
        return at
    some = change.old or change.new
    while at > 0 and lines[at - 1] == some[(at - 1 - change.start) % len(some)]:
        at -= 1
    return at
