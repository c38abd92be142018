"""Hunks of an edit that must not be rebased to a newer text, because their place there is ambiguous; pure."""

from collections.abc import Sequence

from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, line_changes
from tark_lsp.workspace.snapshot import Snapshot


def ambiguous_hunks(edit: ProposedEdit, current: Snapshot) -> tuple[Hunk, ...]:
    """The hunks whose place cannot be determined from the text. Rebased, they could end up at a wrong place.

    These are hunks that only add lines next to lines that were changed or removed since, because their place may be
    gone, too. They are also hunks of lines that occur twice in a row, if one of the two was added or removed since,
    because it is unknown which one.
    """
    lines = edit.base.lines
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
    """The first line at which the change can begin and still lead to the same text. Equal lines allow several."""
    at = change.start
    if change.old and change.new:
        return at
    some = change.old or change.new
    while at > 0 and lines[at - 1] == some[(at - 1 - change.start) % len(some)]:
        at -= 1
    return at
